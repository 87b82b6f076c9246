"""What browsers and the terminal are told."""
