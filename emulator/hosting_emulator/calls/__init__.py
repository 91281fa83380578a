"""Floor 2, the calls: one file for each thing a client can ask, and the rules they share."""
