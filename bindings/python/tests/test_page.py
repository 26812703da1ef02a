"""The Python programs of documents, in each page's order: they run, and print what the page says."""

import contextlib
import importlib.util
import io
import re

import pytest
from conftest import ROOT

PAGES = ["docs/python.md", "docs/sql.md", "README.md", "bindings/python/README.md"]
FENCE = re.compile(r"(?:<!-- needs: ([^>]*) -->\n)?```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_programs(page, tmp_path, monkeypatch):
    path = ROOT / page
    if not path.exists():
        pytest.skip("the documents are not here")
    monkeypatch.chdir(tmp_path)
    names = {}
    programs = FENCE.findall(path.read_text())
    assert len(programs) >= (6 if page == "docs/python.md" else 1)
    for needs, program, printed in programs:
        if any(importlib.util.find_spec(module) is None for module in needs.split()):
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(program, page, "exec"), names)
        # What a comment says of an output is not compared.
        assert out.getvalue() == printed or not printed
