"""How good a search is: judged questions, metrics, and what differs by more than chance."""
