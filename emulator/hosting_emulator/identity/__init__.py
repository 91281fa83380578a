"""The sign-in pages and the endpoints of the OpenID provider. The engine issues and checks tokens."""
