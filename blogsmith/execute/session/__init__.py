"""One session from start to end: its process, its requests, its outputs, and its complete removal."""
