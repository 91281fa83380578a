"""The server: sockets and HTTP around the core. Decides nothing the core could decide."""
