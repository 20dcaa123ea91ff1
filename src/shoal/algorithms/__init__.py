"""Anonymizers, one a file."""
