"""The command line as `python -m balframe`."""

from balframe.cli.main import main

if __name__ == "__main__":
    main()
