"""The report: results and figures become one self-contained page. Imports no torch."""
