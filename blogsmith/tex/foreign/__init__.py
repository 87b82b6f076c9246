"""MathML of other converters → markup as ours, or why no page may hold it."""
