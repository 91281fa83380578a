"""Exploring a client: which failures it does not survive. Planning, judging and reporting.

It runs nothing: what is run, and how, is told by the CLI and the pytest plugin. Of the emulator it
knows the control API's client and the contract.
"""
