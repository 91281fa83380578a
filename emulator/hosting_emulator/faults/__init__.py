"""Faults: how a call's response goes wrong on purpose. The server carries out what is decided here."""
