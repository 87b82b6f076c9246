"""Matrices and lines as SVG, once for light and once for dark pages."""
