"""The Citation Style Language 1.0.2: styles and locales as files, works → texts of citations and of lists."""
