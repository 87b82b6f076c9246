"""The Content-Security-Policy of finished pages, and the links that leave them."""
