"""Variational inference: the point where a bound on the probability of all documents is largest."""
