"""The hooks of MkDocs, which finds them in a module of this folder."""

from generators.hooks import (
    on_config,
    on_env,
    on_files,
    on_page_content,
    on_page_markdown,
    on_post_template,
)

__all__ = [
    "on_config",
    "on_env",
    "on_files",
    "on_page_content",
    "on_page_markdown",
    "on_post_template",
]
