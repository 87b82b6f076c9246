"""What commands and environments do, one file per construct; `table` puts them together."""
