"""The frozen records that the pipeline passes from stage to stage, and definitions that stages share."""
