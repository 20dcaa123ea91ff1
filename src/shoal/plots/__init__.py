"""Pictures. They need the extra `plots`."""
