"""What judges one answer: specs, checks, gates, verdicts."""
