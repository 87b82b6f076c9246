"""Cells of posts: which of them run, where, and which results a page shows."""
