"""The flow diagram: its numbers, its layout, and its drawing as SVG, PDF and interactive page."""
