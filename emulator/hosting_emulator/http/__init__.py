"""HTTP with aiohttp: framing, the guard, TLS, responses, and the handlers for the public API."""
