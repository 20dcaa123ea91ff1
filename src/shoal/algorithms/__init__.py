"""Anonymizers, one a file."""

from shoal.lazy import plugins

__getattr__, __dir__ = plugins(__name__)
