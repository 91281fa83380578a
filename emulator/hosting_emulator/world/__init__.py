"""The simulated hosting service as an immutable value. The package reads no clock and does no I/O."""
