"""Mappings that authors write → typed records, with a report at the place of every mistake."""
