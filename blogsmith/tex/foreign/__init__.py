"""MathML of other converters: converted to markup like ours, or rejected with a reason."""
