"""Measures of loss and of utility, one a file."""
