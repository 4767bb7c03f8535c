"""A user's own headset, live: what it sends, a body that follows, and the page that shows it."""
