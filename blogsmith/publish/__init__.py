"""Hosts of a finished site: what each needs beside the pages, as files of the author and of the site."""
