"""Copies of images at other hosts: downloading them once, on the author's word, and judging what came."""
