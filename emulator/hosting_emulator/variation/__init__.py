"""Varies responses in ways that the contract allows, based on a seed."""
