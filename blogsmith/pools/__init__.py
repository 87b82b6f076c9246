"""Processes that make pages, on this machine or on a cluster."""
