"""Implements ./dev: set-up of the machine, the build, and the commands on top. Standard library only."""
