"""Pages and endpoints of sign-in and the OpenID provider. The engine issues and checks tokens."""
