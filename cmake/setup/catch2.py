# SPDX-License-Identifier: Apache-2.0
"""catch2.py SUITE FOLDER: unpack Catch2 of another suite of this machine's Debian archive into FOLDER.

Neither the system nor apt's own state is changed. Exit 77 with the reason where that cannot be done.
"""
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/real"))
import parts  # noqa: E402

suite, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.parent.mkdir(parents=True, exist_ok=True)
temp = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
try:
    parts.unpack_debs("catch2", suite, ["libcatch2-dev"], "", temp / "catch2", temp)
    shutil.rmtree(folder, ignore_errors=True)
    (temp / "catch2").rename(folder)
except parts.Unavailable as reason:
    print(reason, file=sys.stderr)
    sys.exit(parts.SKIP)
finally:
    shutil.rmtree(temp, ignore_errors=True)
