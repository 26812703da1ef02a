"""The programs of docs/python.md, in the page's order: they run, and print what the page says."""

import contextlib
import importlib.util
import io
import re

import pytest
from conftest import ROOT

PAGE = ROOT / "docs/python.md"
FENCE = re.compile(r"(?:<!-- needs: ([^>]*) -->\n)?```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


@pytest.mark.skipif(not PAGE.exists(), reason="the documents are not here")
def test_programs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    programs = FENCE.findall(PAGE.read_text())
    assert len(programs) >= 4
    for needs, program, printed in programs:
        if any(importlib.util.find_spec(module) is None for module in needs.split()):
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(program, str(PAGE), "exec"), names)  # noqa: S102
        assert out.getvalue() == printed
