"""Corpora in their native formats, one file each: `load`, the reader, and `ENTRY`."""
