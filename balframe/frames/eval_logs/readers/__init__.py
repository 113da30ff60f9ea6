"""Readers of the logs of tools that evaluate language models, one module each."""
