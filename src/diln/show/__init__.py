"""Answers for the eye: tables in words, and figures where matplotlib is installed (``pip install "diln[plots]"``)."""
