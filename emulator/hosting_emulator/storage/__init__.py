"""Storage: worlds on disk. Holds no behaviour of the service, only what was committed."""
