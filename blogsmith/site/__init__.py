"""Pages in relation to each other: addresses, lists, links, feeds, search, books, pictures of links."""
