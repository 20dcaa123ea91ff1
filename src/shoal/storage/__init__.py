"""Files replaced together, checkpoints, and private folders."""
