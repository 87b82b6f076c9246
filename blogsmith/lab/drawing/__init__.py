"""Matrices and line charts as SVG, once for light and once for dark pages."""
