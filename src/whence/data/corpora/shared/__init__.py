"""What readers of several corpora share."""
