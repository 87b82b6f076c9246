"""Which sites' own code may run: consent, what it covers, and how a folder is known again."""
