"""The HTTP interface of the workbench: one file per group of operations."""
