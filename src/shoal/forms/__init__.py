"""Forms of a release, one a file."""
