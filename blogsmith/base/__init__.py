"""What every stage stands on: mistakes as data, files on disk, YAML as typed records, regular expressions."""
