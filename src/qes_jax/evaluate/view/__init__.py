"""A motion in its room, in the browser: live through a viser server, or as one HTML file."""
