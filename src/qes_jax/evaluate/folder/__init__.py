"""A whole folder of recordings: imported, followed in batches, and told apart by groups."""
