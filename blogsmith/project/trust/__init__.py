"""Consent to run the code of a site. Determines the files and settings that it covers, and recognizes the
folder of a site."""
