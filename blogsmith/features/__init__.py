"""What commands do with a finished site: check links, weigh pages, make a book, publish."""
