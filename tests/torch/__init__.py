"""Tests of the lab with torch; `make test-torch` runs them."""
