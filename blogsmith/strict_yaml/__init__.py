"""YAML as blogsmith accepts it: plain data, and the place of every value in the author's file."""
