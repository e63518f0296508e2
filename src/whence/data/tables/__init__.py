"""The user's own tables: reading them, inferring columns, datasets of the hub."""
