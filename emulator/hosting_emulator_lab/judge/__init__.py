"""Finds the failures that a client does not survive: plans the runs, makes them and judges them.

The CLI runs a command and the pytest plugin runs a test. Both only decide how one run is made. This
package knows the client of the control API, the contract and the kinds of faults.
"""
