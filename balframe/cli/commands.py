"""The program with all its commands, in the order of its help."""

from balframe.cli import of_labels  # isort: skip
from balframe.cli import of_scores  # isort: skip
from balframe.cli import of_rules  # isort: skip
from balframe.cli import without_files  # isort: skip
from balframe.cli.app import app

__all__ = ["app", "of_labels", "of_rules", "of_scores", "without_files"]
