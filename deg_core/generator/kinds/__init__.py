"""The kinds of documents, one a file."""
