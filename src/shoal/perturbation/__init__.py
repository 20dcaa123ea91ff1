"""Perturbations: algorithms that change values instead of hiding them, one a file."""
