"""Whether the questions can be asked of a model, and whether the tests work on it."""
