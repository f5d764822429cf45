"""Sign-in by an OpenID Connect provider: the authorization code flow with PKCE, and roles from the provider's groups."""
