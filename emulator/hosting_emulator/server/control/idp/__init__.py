"""The identity provider of each world, over HTTP: OpenID Connect, with nobody having a password."""
