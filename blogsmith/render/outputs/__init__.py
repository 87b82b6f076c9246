"""Cells on the page: code, outputs, images, values and their provenance."""
