"""Text of other systems: Markdown split into code and prose, and rewrites of the prose."""
