"""Learners that libraries lack, with scikit-learn's interface: they tell what a release is still good for."""

from shoal.lazy import plugins

__getattr__, __dir__ = plugins(__name__)
