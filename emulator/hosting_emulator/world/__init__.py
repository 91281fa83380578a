"""The world: the simulated hosting service as an immutable value. Does no I/O, reads no clock."""
