"""A trained policy in a live room: its options, and the server."""
