"""The id of this build. Builds between two releases have the same version but different ids.

The id is a digest of the packaged files. The build hook writes it to a file next to this one. An
editable install has no id, because its files change.
"""

from __future__ import annotations

from pathlib import Path

from hosting_emulator import __version__

_EDITABLE = "editable"


def _read() -> str:
    try:
        return Path(__file__).with_name("build-id.txt").read_text(encoding="ascii").strip()
    except OSError:
        return _EDITABLE


#: The id of this build, such as `3f9c1b2a77d0`, or `editable` for an editable install.
BUILD_ID = _read()
#: Version and build, such as `0.1.0+3f9c1b2a77d0`.
FULL_VERSION = f"{__version__}+{BUILD_ID}"


def name_builds(other: str, version: str = __version__) -> tuple[str, str] | None:
    """Return names that distinguish another build from this one, or None if they are the same
    build.

    `other` has the form `VERSION+BUILD`. If the versions differ, they are used as the names. If the
    other build has no id, only the versions are compared.
    """
    other_version, _, other_build = other.partition("+")
    if other_version != version:
        return other_version, version
    if other_build in ("", BUILD_ID):
        return None
    return other, f"{version}+{BUILD_ID}"
