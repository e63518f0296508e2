"""Reference models, one readable file each, and the adoption of Hugging Face models."""
