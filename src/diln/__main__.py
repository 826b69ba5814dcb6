"""``python -m diln`` is the ``diln`` command."""

import signal

from diln.cli.interrupts import leave


def main() -> None:
    """Run the command. While its modules are imported, Ctrl-C ends it at once: there is nothing to clean up yet."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)
    from diln.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
