"""Tools that judge clients and servers: explore, replay, the contract check, and shrinking."""
