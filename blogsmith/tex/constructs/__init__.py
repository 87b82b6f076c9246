"""Implementations of commands and environments, one file per construct; `table` combines them."""
