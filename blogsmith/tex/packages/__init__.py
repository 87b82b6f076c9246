"""Packages of LaTeX that are small languages of their own."""
