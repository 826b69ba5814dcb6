"""What a topic says of an observation."""
