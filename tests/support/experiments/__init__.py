"""What the tests of one experiment share."""
