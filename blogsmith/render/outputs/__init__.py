"""Cells on the page: code, outputs, pictures, values and where they came from."""
