"""Floor 2, faults: how a call's answer can go wrong on purpose. Decided here, carried out elsewhere."""
