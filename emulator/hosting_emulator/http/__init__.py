"""HTTP with aiohttp: framing, guard, TLS, responses, and the handlers of the public API."""
