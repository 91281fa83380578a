"""The engine handles one exchange at a time and owns the worlds. The engine itself opens no socket."""
