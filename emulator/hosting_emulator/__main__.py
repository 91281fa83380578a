"""`python -m hosting_emulator`: start an emulator with default settings."""

from __future__ import annotations

import sys

from hosting_emulator.bootstrap import run
from hosting_emulator.settings import Settings, StartError


def main() -> int:
    """Run until stopped. The command `hosting-emulator start` has the options."""
    try:
        return run(Settings(), lambda ready: print(ready.base_url, flush=True))
    except StartError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
