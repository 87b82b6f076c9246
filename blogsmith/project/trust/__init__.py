"""Consent to run the code of a site: what it covers, and how the folder of a site is recognized."""
