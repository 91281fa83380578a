"""The world: the simulated hosting service as an immutable value. It does no I/O and reads no clock."""
