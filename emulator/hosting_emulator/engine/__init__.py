"""The engine: one exchange through the core, and the worlds it happens in. Opens no socket."""
