"""The version of Shoal."""

__version__ = "0.1.0"
