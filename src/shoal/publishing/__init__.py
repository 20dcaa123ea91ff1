"""From a plan to verified files: publish, sign, read back, use a recoding again."""
