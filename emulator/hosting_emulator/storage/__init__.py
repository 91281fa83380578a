"""Stores worlds on disk. This package only stores committed state. The service's behavior is
elsewhere.
"""
