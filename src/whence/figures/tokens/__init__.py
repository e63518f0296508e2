"""Tokens shaded by score: as text, HTML, LaTeX, SVG and PDF."""
