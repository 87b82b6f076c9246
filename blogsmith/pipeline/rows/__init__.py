"""What is kept from one build to the next: rows of pages and of the site, and what names them."""
