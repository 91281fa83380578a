"""The engine owns the worlds, and runs the steps of one exchange at a time. The engine opens no sockets."""
