"""The pipeline, Source → … → Output, and the cells on its way: once for a build, in steps for the preview."""
