"""Functions of probability that know no model."""
