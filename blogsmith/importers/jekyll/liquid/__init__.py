"""Liquid, as much of it as stands in posts and in the includes that posts name."""
