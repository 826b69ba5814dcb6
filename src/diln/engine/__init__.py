"""Where work runs: knows nothing of documents, topics or models."""
