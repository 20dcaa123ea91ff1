"""What several metrics share: analyses, queries, conditions, estimation, learning."""
