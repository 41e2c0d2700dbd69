"""The registry without sources has what torch.onnx's own has."""

from __future__ import annotations

from dataclasses import fields

from torch.onnx._internal.exporter import _registration

from modelexport_exporter.torch_internals.translation import Registry, reading_no_sources


def contents(registry: Registry) -> dict[str, list[dict[str, object]]]:
    return {
        str(name): [
            {field.name: repr(getattr(entry, field.name)) for field in fields(entry)}
            for entry in entries
        ]
        for name, entries in registry.functions.items()
    }


def test_registry_without_sources_is_the_same() -> None:
    plain = contents(_registration.ONNXRegistry.from_torchlib())
    with reading_no_sources():
        assert contents(_registration.ONNXRegistry.from_torchlib()) == plain
    assert len(plain) > 400
