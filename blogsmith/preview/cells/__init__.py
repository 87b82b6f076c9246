"""Background execution of cells while their pages are shown: in workers started in advance, the edited page
first."""
