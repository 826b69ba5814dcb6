"""What is fed with spoilt inputs; a target comes in by being defined here."""
