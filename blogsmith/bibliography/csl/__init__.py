"""The Citation Style Language 1.0.2: parsing of styles and locales, formatting of citations."""
