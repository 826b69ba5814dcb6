"""Start what ``diln fit`` starts beside reading, say which processes these are, and wait to be killed."""

import sys
import time

from diln.cli.ahead import Ahead
from diln.models.parameters import parameters_of

if __name__ == "__main__":
    with Ahead(parameters_of("DILN", {})) as ahead:
        print(*(process.pid for process in ahead.processes), flush=True)
        if sys.argv[1:] == ["wait"]:
            ahead.wait()
            print("done", flush=True)
        time.sleep(600)
