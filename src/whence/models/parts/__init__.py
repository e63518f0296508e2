"""Parts that several reference models are built from."""
