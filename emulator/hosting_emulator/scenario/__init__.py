"""Scenarios: reads YAML documents, builds their worlds, and runs their stories."""
