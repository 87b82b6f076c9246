"""What authors write as YAML: plain data with the place of every value, and the typed records made of it."""
