"""Finds the failures that a client does not survive: plans, makes and judges runs of the client.

The CLI runs a command and the pytest plugin runs a test. The CLI and the plugin only decide how one
run is made. This package knows the client of the control API, the contract and the kinds of faults.
"""
