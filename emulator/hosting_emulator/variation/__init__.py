"""Variation: alternative responses that the contract also allows, drawn from a seed."""
