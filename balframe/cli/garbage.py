"""Python's search for garbage, which would go through all that the program loads, several times.

Of the standard library alone, for the package begins with it, before what takes long to load.
"""

import gc


def put_off() -> None:
    """Search for none while modules are loaded, for they stay to the end."""
    gc.disable()


def resume() -> None:
    """Search what is made from now on, where the search was put off."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
