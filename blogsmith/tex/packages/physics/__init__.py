"""The physics package: brackets, derivatives, vectors and Dirac notation."""
