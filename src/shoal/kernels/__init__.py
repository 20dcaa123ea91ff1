"""Compiled kernels: arrays in, arrays out. The only place that uses numba."""

from shoal.kernels import caching as caching  # before the first kernel: it says where what is compiled is kept
from shoal.kernels import compilation as compilation  # before the first kernel: it hears when one is compiled
