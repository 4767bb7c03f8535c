"""Controlled bodies: run, shown, measured."""
