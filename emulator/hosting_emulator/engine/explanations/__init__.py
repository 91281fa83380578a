"""Explains in sentences how a response came about (`trail`) and why an operation waits (`operations`)."""
