"""Makes `python -m hosting_emulator_cli` equivalent to `hosting-emulator`."""

from hosting_emulator_cli.main import main

if __name__ == "__main__":
    main()
