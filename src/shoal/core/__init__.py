"""The nouns of Shoal, and the contracts that plug-ins keep."""
