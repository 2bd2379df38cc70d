"""Where compiled kernels are kept when neither the package nor the home directory can be written.

Numba looks for a place beside the code, then in the home directory, and gives up with an error. In a
container with an installation for reading alone and any user there is neither.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"


def provide_cache(package: Path = Path(__file__).parent, home: Path | None = None) -> None:
    """Names a private directory to Numba, and to child processes, unless it finds a place by itself.

    Call it before Numba is imported.
    """
    if VARIABLE in os.environ or _is_writable(package / "__pycache__") or _is_writable(home or _user_cache()):
        return
    os.environ[VARIABLE] = str(_private_directory())


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))


def _is_writable(place: Path) -> bool:
    """Whether files can be made there, or the directory itself."""
    while not place.exists() and place != place.parent:
        place = place.parent
    return place.is_dir() and os.access(place, os.W_OK | os.X_OK)


def _private_directory() -> Path:
    """One for all processes of this user; a new one if somebody else has taken the name.

    What Numba finds there it runs, so nobody else may write to it.
    """
    import tempfile  # takes as long as all else here, and is hardly ever needed

    if not hasattr(os, "getuid"):  # Windows gives each user a temporary directory
        return Path(tempfile.mkdtemp(prefix="thermorbm-kernels-"))
    place = Path(tempfile.gettempdir()) / f"thermorbm-kernels-{os.getuid()}"
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        state = place.lstat()
        is_ours = stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & 0o077
    except OSError:
        is_ours = False
    return place if is_ours else Path(tempfile.mkdtemp(prefix="thermorbm-kernels-"))
