"""Decides how armed faults change the responses of calls. The server carries out the decisions."""
