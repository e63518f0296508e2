"""A subject: model, tokenizer and task, with one way to encode texts and to predict, whatever the architecture."""
