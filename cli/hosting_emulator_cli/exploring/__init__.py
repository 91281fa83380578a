"""Exploring: a command run again and again, each time with another failure."""
