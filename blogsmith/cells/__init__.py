"""Cells of posts. Determines which of them run, where they run, and which results a page shows."""
