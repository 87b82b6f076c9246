"""Copies of images on other hosts, downloaded once at the author's request and then checked."""
