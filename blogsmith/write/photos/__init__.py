"""Pictures without the private data that cameras and programs leave in them, their pixels untouched."""
