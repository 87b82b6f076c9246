"""Check of links to other hosts, which runs only on request."""
