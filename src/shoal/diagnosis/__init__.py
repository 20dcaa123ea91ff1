"""Diagnosis: how exposed the people in a table are, before anything is changed."""
