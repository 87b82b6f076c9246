"""Pictures as they are published: without private data of cameras and programs, and as smaller copies."""
