"""Pictures of clips and scenes, for the docs."""
