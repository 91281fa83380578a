"""Reads scenarios from YAML files, builds their worlds, and runs their stories."""
