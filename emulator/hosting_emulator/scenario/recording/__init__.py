"""Records a world's session, or a span of it, as a scenario file.

The recorder runs the story in each file before it returns the file, to make sure that the story
passes. A session that cannot be expressed as a scenario is refused.
"""
