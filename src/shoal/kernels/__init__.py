"""Compiled kernels: arrays in, arrays out. The only place that uses numba."""

from shoal.kernels import caching as caching  # before the first kernel: it says where what is compiled is kept
