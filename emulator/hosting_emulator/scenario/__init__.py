"""Reads scenarios from YAML documents, builds their worlds, and runs their stories."""
