"""Learners that libraries lack, with scikit-learn's interface: they tell what a release is still good for."""
