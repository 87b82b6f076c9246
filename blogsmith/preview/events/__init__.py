"""What browsers and the terminal hear of: events of pages, cells and mistakes."""
