"""The explorer: a page in the browser, and the JSON API behind it (``pip install "diln[explore]"``)."""
