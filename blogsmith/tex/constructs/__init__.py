"""Implementations of commands and environments, with a table in each file; `table` combines them."""
