"""Language server: diagnostics while the author types, and help at the cursor, for any editor."""
