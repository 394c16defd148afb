"""The lines of keys in TOML files, whatever else stands in them."""

from __future__ import annotations

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from modulog.pipeline.config_file import lines_of

TEXT = '''\
# [[source]] in a comment
store = "a # [b] = c"   # and one behind
rules = [ "one.rls", # [x]
  'two].rls',
]
note = """
[[source]]
path = "not a key"
"""
other = \'\'\'
x = 1\'\'\'

[spark]
master = "local[2]"
driver.memory = "2g"
"spark.sql.shuffle.partitions" = 4

[[source]]
path = "a.csv"
map = { edge = ["from",
   "to"], "odd = [key" = [0] }

[[ source ]]   # the second
  path = 'b.csv'
header=true

[[sink]]
'''


def test_every_key_has_its_line() -> None:
    tomllib.loads(TEXT)
    assert lines_of(TEXT) == {
        ("store",): 2,
        ("rules",): 3,
        ("note",): 6,
        ("other",): 10,
        ("spark",): 13,
        ("spark", "master"): 14,
        ("spark", "driver"): 15,
        ("spark", "driver", "memory"): 15,
        ("spark", "spark.sql.shuffle.partitions"): 16,
        ("source", 0): 18,
        ("source", 0, "path"): 19,
        ("source", 0, "map"): 20,
        ("source", 1): 23,
        ("source", 1, "path"): 24,
        ("source", 1, "header"): 25,
        ("sink", 0): 27,
    }


def test_windows_line_ends() -> None:
    assert lines_of('a = 1\r\n\r\n[t]\r\nb = """\r\n"""\r\nc = 2\r\n') == {
        ("a",): 1,
        ("t",): 3,
        ("t", "b"): 4,
        ("t", "c"): 6,
    }


VALUES = st.sampled_from(
    [
        "1",
        '"#"',
        "'['",
        '"\\""',
        '["a", # ]\n "b"]',
        "{ x = [1], y = '}' }",
        '"""\n[k]\n"""',
        "'''\nk = 1\n'''",
        "true",
    ]
)
LINES = st.lists(st.tuples(st.sampled_from(["", "# [c]", "key"]), VALUES), max_size=8)


@given(tables=st.lists(LINES, max_size=4))
def test_lines_are_those_of_the_text(tables: list[list[tuple[str, str]]]) -> None:
    """Every key that the library reads has a line, and that line begins with it."""
    text, number = "", 0
    for table in tables:
        text += "[[t]]\n"
        for kind, value in table:
            number += 1
            text += f"k{number} = {value}\n" if kind == "key" else f"{kind}\n"
    found, lines = lines_of(text), text.split("\n")
    content: dict[str, Any] = tomllib.loads(text)
    wanted = {("t", i, key) for i, table in enumerate(content.get("t", [])) for key in table}
    assert {path for path in found if len(path) == 3} == wanted
    for path in wanted:
        assert lines[found[path] - 1].startswith(f"{path[2]} = ")
