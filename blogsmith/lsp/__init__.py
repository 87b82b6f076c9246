"""Language server for any editor. It sends diagnostics while the author types, and gives help at the
cursor."""
