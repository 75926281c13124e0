"""Run the Python blocks of a page one after the other, in one process, as its reader would.

It reads a list of blocks from a file of JSON, and writes what each has printed to a second one. The blocks share their
names. A block that begins with ``>>>`` is a doctest.
"""

import contextlib
import doctest
import io
import json
import sys
from pathlib import Path


def main(blocks: Path, outputs: Path) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    printed = []
    for block in json.loads(blocks.read_text(encoding="utf-8")):
        stdout = io.StringIO()
        with contextlib.redirect_stdout(stdout):
            if block["code"].startswith(">>>"):
                test = doctest.DocTestParser().get_doctest(block["code"], names, block["place"], None, 0)
                found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False)
                names.update(test.globs)
                if found.failed:
                    sys.exit(stdout.getvalue())
            else:
                exec(compile(block["code"], block["place"], "exec"), names)
        printed.append(stdout.getvalue())
    outputs.write_text(json.dumps(printed), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
