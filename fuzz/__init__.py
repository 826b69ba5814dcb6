"""Feeds diln what nobody should: sound inputs, spoilt on purpose, and a judge of what comes of it."""
