"""Questions of annotators on a pair, and the answers of leads."""
