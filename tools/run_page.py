"""Runs the code of a documentation page and puts what it prints and draws below each block.

    python tools/run_page.py PAGE.md TARGET.md

Every block ```python and ```bash runs, from top to bottom, in one namespace and one temporary directory. A
block that fails is an error, and no page is written. Pictures are written beside the page. The published
results of this repository are there as results/. The last line on stdout is the CPU time.
"""

import os
import re
import resource
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from execution import picture, plt, run_python, run_shell

RESULTS = Path(__file__).resolve().parents[1] / "results"
BLOCK = re.compile(r"^```(python|bash)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


def run_page(text, target):
    """The page with outputs; pictures go beside target, under its name."""
    space = {"__name__": "__main__"}
    numbers = iter(range(1, 1000))

    def shown(block):
        language, source = block.groups()
        name = f"{target.stem}, block {next(numbers)}"
        if language == "bash":
            return block.group() + _text(run_shell(source))
        printed, figures = run_python(source, space, name)
        links = [_picture(figure, target, name.split()[-1], i) for i, figure in enumerate(figures, 1)]
        plt.close("all")
        return block.group() + _text(printed) + "".join(links)

    return BLOCK.sub(shown, text)


def _text(printed):
    return f"\n```text\n{printed.rstrip()}\n```\n" if printed.strip() else ""


def _picture(figure, target, block, number):
    file = target.with_name(f"{target.stem}-{block}-{number}.svg")
    file.write_bytes(picture(figure, "svg"))
    return f"\n![What this code draws]({file.name})\n"


def main(page, target):
    page, target = Path(page).resolve(), Path(target).resolve()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        Path("results").symlink_to(RESULTS, target_is_directory=True)
        text = run_page(page.read_text(encoding="utf-8"), target)
        os.chdir("/")
    target.write_text(text, encoding="utf-8")
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"{page.name}: {sum(each.ru_utime + each.ru_stime for each in used):.0f} s of CPU")


if __name__ == "__main__":
    main(*sys.argv[1:])
