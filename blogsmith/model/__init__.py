"""The records that travel along the pipeline, one per stage, all frozen, and what stages share about them."""
