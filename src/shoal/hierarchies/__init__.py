"""Builders of generalization hierarchies, one a file."""
