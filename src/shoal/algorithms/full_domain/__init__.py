"""Full-domain generalization: every value of a column at one level."""
