"""The Citation Style Language 1.0.2. Parses styles and locales, and formats citations."""
