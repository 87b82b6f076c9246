"""Strings that blogsmith and its themes print on pages, in the language of each page."""
