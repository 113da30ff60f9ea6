"""What notebooks with a dark or a light theme are known by, in selectors of CSS.

They are those of JupyterLab, VS Code, Colab and marimo.
"""

DARK_NOTEBOOKS = (
    'body[data-jp-theme-light="false"], body.vscode-dark, html[theme="dark"], body.dark-theme'
)
LIGHT_NOTEBOOKS = (
    'body[data-jp-theme-light="true"], body.vscode-light, html[theme="light"], body.light-theme'
)
