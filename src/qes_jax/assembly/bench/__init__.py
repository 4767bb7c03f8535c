"""What measurements of speed and of other learners run."""
