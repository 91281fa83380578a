"""Writes a session as a scenario: what was done in a world, or a span of it, as one file.

Each file is run before it is returned, so its story passes. What a scenario cannot express is refused.
"""
