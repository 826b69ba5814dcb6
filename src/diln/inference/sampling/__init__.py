"""Sampling: every token has one topic, drawn given all others; weights and locations are drawn given those."""
