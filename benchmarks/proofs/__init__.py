"""The figures on the first pages: each is measured by one command, which writes it there."""
