"""Small models that several tests share."""
