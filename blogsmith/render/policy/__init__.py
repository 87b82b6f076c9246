"""The Content-Security-Policy of finished pages, and links to new windows."""
