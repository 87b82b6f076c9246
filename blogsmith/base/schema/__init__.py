"""YAML of authors: plain data with the location of every value, and the typed records made from it."""
