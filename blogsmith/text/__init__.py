"""What text is made of, for all that read or write it: characters and slugs."""
