"""Checks for other people's tools: pandera, Great Expectations and dbt. Each module imports its tool, and nothing else
imports the module."""
