"""What the workbench does with a model: looking, changing, comparing, searching. No HTTP here."""
