"""Several processes that make pages: how they are started, what they are told, and what they give."""
