"""Records the session of a world, or a span of the session, as a scenario file.

The recorder runs the story of each file before it returns the file, so the story passes. A session
that a scenario cannot express is refused.
"""
