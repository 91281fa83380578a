"""Floor 2, interventions: changes of a world from outside the contract, each one small typed thing."""
