"""Pages in relation to each other: addresses, lists, links, redirects."""
