"""Background execution of cells while their pages are shown: workers start in advance, and the edited page
runs first."""
