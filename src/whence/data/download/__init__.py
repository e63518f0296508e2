"""Getting corpora: downloads with checksums, archives, the corpus folder."""
