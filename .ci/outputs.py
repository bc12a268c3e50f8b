#!/usr/bin/env python3
"""Find saved outputs that today's code would not print.

    python .ci/outputs.py                                  # every page
    python .ci/outputs.py nbs/00_setup.ipynb nbs/judge     # these pages and folders

A page is run as nbdev_test runs it, and the texts of its saved outputs are compared with the new ones. Of a cell
that begins with `#| measured: true`, which prints seconds or the like, digits do not count. Pictures are not
compared, nor cells that the tests skip.
"""
import difflib, json, os, re, subprocess, sys
from pathlib import Path

SKIPPED = re.compile(r'^#\|\s*(eval:\s*false|slow|gpu|net)\b', re.M)


def texts(cell):
    "What a cell has printed and shown, as text."
    found = []
    for out in cell.get('outputs') or []:
        data = out.get('data', {})
        text = out.get('text') or data.get('text/markdown') or ('' if 'image/png' in data else data.get('text/plain', ''))
        found.append(''.join(text))
    text = '\n'.join(line.rstrip() for line in ''.join(found).splitlines())
    return re.sub(r'[\d.,]+', '#', text) if re.search(r'^#\|\s*measured', ''.join(cell['source']), re.M) else text


def differences(page):
    "What is out of date on a page: pairs of a cell's first line and the lines that differ."
    from execnb.nbio import read_nb
    from execnb.shell import CaptureShell
    saved = json.loads(page.read_text(encoding='utf-8'))['cells']
    nb, shell = read_nb(page), CaptureShell(str(page))
    os.chdir(page.parent)
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    def skip(cell):
        return cell.cell_type != 'code' or 'nbdev_export(' in cell.source or bool(SKIPPED.search(cell.source))
    for old, cell in zip(saved, nb.cells):
        if skip(cell): continue
        shell.cell(cell)
        if shell.exc: raise shell.exc
        if not old.get('outputs'): continue
        before, now = texts(old), texts(cell)
        if before != now:
            lines = difflib.unified_diff(before.splitlines(), now.splitlines(), 'saved', 'today', lineterm='', n=0)
            yield cell.id, [*lines][2:]


def main():
    given = [Path(p).resolve() for p in sys.argv[1:]] or [Path(__file__).resolve().parent.parent/'nbs']
    pages = sorted(p for g in given for p in (g.rglob('*.ipynb') if g.is_dir() else [g]) if not re.search(r'/[._]', str(p)))
    if len(pages) > 1: # each in a process of its own
        ended = [subprocess.run([sys.executable, __file__, page]).returncode for page in pages]
        sys.exit(f'{sum(map(bool, ended))} of {len(pages)} pages are out of date' if any(ended) else 0)
    os.environ['IN_TEST'] = '1'
    found = list(differences(pages[0]))
    for id, lines in found: print(f'{pages[0].name}, cell {id}:', *lines[:20], sep='\n  ', flush=True)
    sys.exit(bool(found))


if __name__ == '__main__': main()
