"""The user's home folder, which some containers lack."""

from pathlib import Path


def home_folder() -> Path:
    """Return the home folder, or a folder that does not exist if there is none.

    Nothing is found in such a folder, and attempts to write there are reported as usual.
    """
    try:
        return Path.home()
    except RuntimeError:  # neither HOME nor the list of users names one
        return Path("/no-home-folder")
