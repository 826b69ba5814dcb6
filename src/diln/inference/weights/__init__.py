"""What a document multiplies its topics by: a file for each model."""
