"""Stores worlds on disk. The package stores committed state, and contains no behavior of the service."""
