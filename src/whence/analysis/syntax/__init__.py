"""What the table of `syntax` says: heads compared with trees, the verdict, the figures."""
