"""Ways to spoil what is sound, each of which knows the structure of what it spoils."""
