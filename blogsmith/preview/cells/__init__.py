"""Cells run in the background while their pages are shown: in warm workers, the edited page first."""
