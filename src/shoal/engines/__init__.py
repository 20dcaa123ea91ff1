"""Where tables live and are worked on: one engine a folder, with the same file names in each."""

DEFAULT = "embedded"
"""The engine that is used unless another one is named."""
