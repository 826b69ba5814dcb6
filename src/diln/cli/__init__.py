"""The ``diln`` command; it is entered by ``diln.__main__``."""
