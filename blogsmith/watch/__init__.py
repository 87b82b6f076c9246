"""Detection of changed files, as soon as they change.

Events of the operating system are only hints. A change is reported if a file differs from its last known
state. Duplicated, lost or wrong events therefore only cost time, and polling is the same code without the
hints. watchdog's own polling is not used, because it takes a deleted and a new file with the same inode for
a move.
"""
