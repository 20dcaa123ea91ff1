"""Privacy models, one a file."""
