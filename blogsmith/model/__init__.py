"""The records that travel along the pipeline, one per stage, all frozen."""
