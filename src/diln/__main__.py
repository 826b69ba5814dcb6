"""``python -m diln`` is the ``diln`` command."""

from diln.cli.main import main

if __name__ == "__main__":
    main()
