"""Compiled kernels: arrays in, arrays out. The only place that uses numba."""

from shoal.kernels import compilation as compilation  # before the first kernel: it hears when one is compiled
