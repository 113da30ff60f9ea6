"""The entry point of the command line: it says what to install where the extra is missing."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from balframe.cli.app import app
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        sys.exit("The command line needs an extra: python -m pip install 'balframe[cli]'")
    app()
