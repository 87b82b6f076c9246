"""Settings of a site: `blogsmith.yaml` as typed, frozen structs, and the checks of its values."""
