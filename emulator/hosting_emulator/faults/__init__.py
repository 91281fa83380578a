"""Faults: how a call's answer can go wrong on purpose. Decided here, carried out by the server."""
