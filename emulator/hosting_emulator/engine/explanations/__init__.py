"""Explanations in sentences: how a response came about (`trail`), why an operation waits (`operations`)."""
