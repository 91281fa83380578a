"""Tools that judge clients and servers: judgments, explorations, replays, contract checks, and shrinking."""
