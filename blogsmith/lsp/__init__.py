"""The language server: what is wrong while it is written, and help where the cursor is, for any editor."""
