"""The engine handles one exchange at a time and owns the worlds. It opens no socket."""
