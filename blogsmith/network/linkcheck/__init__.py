"""Links to other hosts: which there are, whether they still lead somewhere, asked for on request only."""
