"""Detection of file changes, as soon as they happen.

Events of the operating system are only hints: a change is reported if a file differs from its last known
state. Duplicated, lost or wrong events therefore cost only time, and polling uses the same code without
hints. watchdog's own polling is not used, because it reports a deleted file and a new one with the same inode
as a move.
"""
