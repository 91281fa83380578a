"""Variation: draws other responses that the contract also allows, based on a seed."""
