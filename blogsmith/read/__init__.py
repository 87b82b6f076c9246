"""Reading from disk: finding the site's files, decoding them, and parsing their front matter."""
