"""Stores worlds on disk. This package contains no behavior of the service, only committed state."""
