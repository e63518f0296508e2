"""The report: results and figures become one page that stands alone. Knows nothing of torch."""
