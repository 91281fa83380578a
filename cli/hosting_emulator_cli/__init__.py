"""The `hosting-emulator` command. Most of its subcommands are thin clients of the control API."""
