"""The sign-in pages and endpoints of the OpenID provider. The engine issues and verifies the
tokens.
"""
