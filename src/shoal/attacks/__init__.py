"""Attacks that a holder can run against a release, one a file."""
