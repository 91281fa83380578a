"""Makes `python -m hosting_emulator_cli` the same as `hosting-emulator`."""

from hosting_emulator_cli.main import main

if __name__ == "__main__":
    main()
