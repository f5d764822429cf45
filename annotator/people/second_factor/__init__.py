"""The second factor of local accounts: codes of an authenticator app (TOTP, RFC 6238) and recovery codes."""
