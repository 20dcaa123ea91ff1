"""What a plug-in of each family must offer, one file a family."""
