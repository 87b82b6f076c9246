"""The settings of a site: `blogsmith.yaml` as typed, frozen structs, and what may stand in it."""
