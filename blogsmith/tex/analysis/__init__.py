"""What a formula says without being typeset: plain text, numbers, tags, its expanded form."""
