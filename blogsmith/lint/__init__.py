"""What a site's author may want to change, though it is not wrong: the lints of `blogsmith check`."""
