"""What changes on disk, as soon as it does.

Events of the system are hints only: what is told is what differs from the files as they were seen last.
So events that are doubled, lost or wrong cost time at most, and polling is the same code without the hints.
It is not watchdog's own polling, which takes a deleted and a new file of one inode for a move.
"""
