"""Time and memory of balframe beside its peers: `python -m benchmarks` runs all of it."""
