"""Pools of processes that render pages, on this machine or on a cluster."""
