"""Requests to other hosts: connection rules, copies of images, link checks."""
