"""Cells of posts: which of them run, where they run, and which results a page shows."""
