"""Varies responses within the limits of the contract, based on a seed."""
