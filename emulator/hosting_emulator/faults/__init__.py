"""Decides how armed faults change the responses to calls. The server carries out these decisions."""
