"""What can be referred to, and what refers to it: labels, ids, citations, numbers."""
