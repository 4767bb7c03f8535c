"""Foreign recordings, one file a format; each reads into a `Recording`."""
