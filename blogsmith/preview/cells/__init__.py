"""Background execution of cells while their pages are shown: in prepared workers, the edited page first."""
