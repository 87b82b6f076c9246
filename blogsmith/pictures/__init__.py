"""Copies of pictures: decoded, turned upright, made smaller and written in formats of the web."""
