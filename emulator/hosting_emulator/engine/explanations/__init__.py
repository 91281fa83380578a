"""Explains in plain English why a response was sent, and why an operation is waiting.

`trail` explains responses, and `operations` explains operations.
"""
