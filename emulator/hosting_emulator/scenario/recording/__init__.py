"""Writes the session of a world, or a span of it, as a scenario file.

Each file is run before it is returned, so its story passes. A session that a scenario cannot
express is refused.
"""
