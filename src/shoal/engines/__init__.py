"""Engines: who holds the rows."""
