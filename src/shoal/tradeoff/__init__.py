"""Sweeps over settings, and where privacy and utility balance."""
