"""Ranking: pure functions from candidates to ordered hits that can explain themselves."""
