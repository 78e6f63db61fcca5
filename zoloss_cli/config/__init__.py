"""Configs: YAML files as typed experiments, and the catalog of what they can name."""
