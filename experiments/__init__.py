"""The papers' experiments, once more, with our own code."""
