"""Models with weights set by hand, so that what they attend to, and what decides, is known."""
