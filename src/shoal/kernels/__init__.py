"""Compiled kernels: arrays in, arrays out. The only place that uses numba."""

from shoal.kernels import compilation as compilation
