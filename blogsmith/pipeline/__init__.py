"""The pipeline, Source → … → Output: once for a build, in steps and with a memory for the preview."""
