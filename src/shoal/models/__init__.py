"""Privacy models, one a file: `shoal.models.KAnonymity`."""

from shoal.lazy import plugins

__getattr__, __dir__ = plugins(__name__)
