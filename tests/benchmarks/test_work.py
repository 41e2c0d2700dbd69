"""Sampled stacks are counted by the process that they belong to and by what it did there."""

from __future__ import annotations

from benchmarks.work import parse, seconds_by_work

SUPERVISOR = 'process 1:"python modelexport run a.yaml"'
EXPORTER = f'{SUPERVISOR};process 2:"python -c from multiprocessing"'
EXPORT = "export (modelexport_exporter/workers/export.py:90)"
RAW = f"""\
{SUPERVISOR};main (modelexport_cli/main.py:3);get (modelexport_exporter/storage/s3.py:7) 10
{EXPORTER};{EXPORT};capture (modelexport_exporter/convert/capture.py:5);f (torch/fx.py:1) 100
{EXPORTER};{EXPORT};capture (modelexport_exporter/convert/capture.py:5);\
_find_and_load (<frozen importlib._bootstrap>:1);<module> (sympy/tensor.py:1) 30
{EXPORTER};{EXPORT};close (torch/other.py:1) 5
no process;main (other.py:1) 7
"""


def test_seconds_are_those_of_process_and_work() -> None:
    assert seconds_by_work(list(parse(RAW.splitlines())), rate=50) == {
        ("exporter", "capture"): 2.0,
        ("exporter", "imports"): 0.6,
        ("supervisor", "the store"): 0.2,
        ("exporter", "other"): 0.1,
    }
