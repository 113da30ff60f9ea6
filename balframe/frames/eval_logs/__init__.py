"""Logs of tools that evaluate language models, read into a tidy frame."""
