"""The figures of the README: each is measured by one command, which writes it there."""
