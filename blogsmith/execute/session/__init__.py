"""One session from start to end: its process, its requests, its outputs, and nothing of it left behind."""
