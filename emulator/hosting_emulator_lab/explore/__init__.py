"""Explore a client: which failures it does not survive. Planned, run, judged and reported here.

The CLI (a command) and the pytest plugin (a test) only say how one run is made. Of the emulator it
knows the control API's client, the contract and what each kind of fault is.
"""
