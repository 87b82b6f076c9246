"""Text of other systems. Splits Markdown into code and prose, and rewrites the prose."""
