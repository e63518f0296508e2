"""What explainers share: what they return, how they are found, their options, and how a model's layers are read."""
