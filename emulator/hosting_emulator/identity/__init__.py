"""Sign-in and the OpenID provider: pages and endpoints. Tokens are made and checked by the engine."""
