"""MathML that other converters produce: rewritten like ours, or rejected with a reason."""
