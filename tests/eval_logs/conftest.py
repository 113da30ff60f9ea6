"""The scripts here need the tools that write logs."""

collect_ignore_glob = ["*/generate.py"]
