"""The program that the package installs."""

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata

_NAME = "aiperf.exe" if os.name == "nt" else "aiperf"


def _places():
    """Where the program may be: as the installer noted it, then the folders of scripts."""
    try:
        for file in metadata.files("aiperf-go") or []:
            if file.name == _NAME:
                yield os.fspath(file.locate())
    except metadata.PackageNotFoundError:
        pass
    yield os.path.join(sysconfig.get_path("scripts"), _NAME)
    # pip install --target, and --prefix on some systems
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield os.path.join(packages, "bin", _NAME)
    yield os.path.join(os.path.dirname(sys.executable), _NAME)


def find_program():
    """Return the path of the program aiperf that this package has installed."""
    for path in _places():
        if os.path.isfile(path):
            return os.path.realpath(path)
    path = shutil.which(_NAME)
    if path is None:
        raise FileNotFoundError("the program aiperf is not where the package aiperf-go installs it; install it again: "
                                "pip install --force-reinstall aiperf-go")
    return path


def main():
    """Start the program with the arguments of this process, and end with its exit code."""
    program = find_program()
    arguments = [program, *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.run(arguments).returncode)
    os.execv(program, arguments)
