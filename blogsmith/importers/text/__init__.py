"""Text of other systems: Markdown divided so that rewrites never touch code, and the rewrites themselves."""
