"""The addresses of the API, in files by what they are about."""
