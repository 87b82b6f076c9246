"""Requests to other hosts, with rules for connections, copies of images, and link checks."""
