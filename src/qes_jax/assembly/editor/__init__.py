"""The pose editor's window in the browser."""
