"""Produces plain-English explanations of why a response was sent and why an operation is waiting.

The `trail` module explains responses, and the `operations` module explains operations.
"""
