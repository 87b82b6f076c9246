"""What may break under an author's hands: each row of README.md is a test named after it."""
