"""A catalogue of all messages, extracted from the source, and the rules of our style sheet for them."""
