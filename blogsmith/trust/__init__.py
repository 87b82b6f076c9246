"""Which sites' own code may run: consent, what it covers, and plugins run from just that."""
