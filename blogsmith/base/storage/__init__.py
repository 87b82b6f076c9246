"""Everything that is written, replaced or removed on disk, through no link."""
