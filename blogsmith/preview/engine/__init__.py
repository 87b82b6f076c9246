"""The preview's one worker, and what it is told."""
