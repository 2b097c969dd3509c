"""What was asked: words for the keyword leg, and a condition on documents."""
