"""What tests of engines and studies share."""
