"""Random specs that follow the CRD's schema: each field, by its own schema.

Of eight specs seven follow the rules between fields, too; whether one is broken is for the API
server to say.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

Schema = dict[str, Any]
_CRD = Path(__file__).parents[3] / "crds" / "modelexport.dev_modelexports.yaml"
_OFTEN, _RARE = 0.5, 0.12
_URIS = ("s3://models/a/b.pt", "s3://m/x/", "pvc://claim/a/b.safetensors", "file:///data/m.pt")
_GLOBS = ("s3://models/folds/*.pt", "s3://m/[ab]/x.pt", "pvc://claim/runs/?.pt")
_TEXTS = ("a", "weights", "é ü", "x" * 63, "a-b.c", "model", "0")
_NAMES = ("x", "image", "a.b", "_y", "tokens", "mask")
_POD_TEMPLATES: tuple[dict[str, Any], ...] = (
    {"spec": {"nodeSelector": {"gpu": "a100"}}},
    {"metadata": {"labels": {"team": "vision"}}},
    {"spec": {"containers": [{"name": "exporter", "resources": {"limits": {"memory": "4Gi"}}}]}},
    {"spec": {"tolerations": [{"key": "gpu", "operator": "Exists"}], "priorityClassName": "low"}},
)
_REFUSED_TEMPLATES: tuple[dict[str, Any], ...] = (
    {"spec": {"hostNetwork": True}},
    {"spec": {"containers": [{"name": "exporter", "image": 1}]}},
)
"""The operator refuses these; the API server does not know what is in a template."""


@lru_cache(1)
def schemas() -> Schema:
    """Return the schemas of spec and status."""
    crd = yaml.safe_load(_CRD.read_text())
    found: Schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    return found


def spec(draw: random.Random) -> dict[str, Any]:
    """Draw a spec."""
    made: dict[str, Any] = _object(draw, schemas()["spec"], "spec")
    if draw.random() > _RARE:
        _follow_rules(draw, made)
    return made


def _value(draw: random.Random, schema: Schema, name: str) -> Any:  # noqa: ANN401 - JSON
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return _pod_template(draw) if name == "podTemplate" else _free(draw, schema)
    if schema.get("x-kubernetes-int-or-string"):
        return draw.choice(["n", "m", 1, 3, 8, 0, "2 * n", "n + 1", "n + m"])
    if "enum" in schema:
        return draw.choice(schema["enum"])
    kinds: dict[str, Callable[..., Any]] = {
        "object": _object,
        "array": _array,
        "string": _string,
        "integer": _integer,
        "number": _number,
        "boolean": lambda draw, _schema, _name: draw.random() < _OFTEN,
    }
    return kinds[schema["type"]](draw, schema, name)


def _object(draw: random.Random, schema: Schema, name: str) -> dict[str, Any]:
    if isinstance(of := schema.get("additionalProperties"), dict):
        keys = draw.sample(["n", "m", "k", "custom.domain"], draw.randint(0, 2))
        return {key: _value(draw, of, key) for key in keys}
    wanted = set(schema.get("required", ()))
    share = draw.choice([_RARE, _RARE, _OFTEN])
    return {
        key: _value(draw, of, key)
        for key, of in schema.get("properties", {}).items()
        if key in wanted or draw.random() < share
    }


def _array(draw: random.Random, schema: Schema, name: str) -> list[Any]:
    least = schema.get("minItems", 0)
    size = draw.randint(least, min(schema.get("maxItems", 4), least + 2))
    made = [_value(draw, schema["items"], name) for _ in range(size)]
    unique = schema.get("x-kubernetes-list-type") == "set"
    return sorted(set(made)) if unique else made


def _string(draw: random.Random, schema: Schema, name: str) -> str:
    pattern = schema.get("pattern", "")
    if "s3://" in pattern:
        return draw.choice(_GLOBS if draw.random() < _RARE else _URIS)
    if pattern.endswith(":[A-Za-z_][A-Za-z0-9_.]*$"):
        return draw.choice(["net:build", "a.b:Net.make"])
    if pattern == "^[0-9a-f]{64}$":
        return f"{draw.getrandbits(256):064x}"
    if pattern == r"^https?://[^/@]+(/.*)?$":
        return draw.choice(["http://s3:9000", "https://[::1]:9000/x"])
    if pattern:
        return draw.choice(_NAMES)
    longest = schema.get("maxLength", 63)
    return draw.choice([text for text in _TEXTS if len(text) <= longest])


def _integer(draw: random.Random, schema: Schema, _name: str) -> int:
    least, most = int(schema.get("minimum", 0)), int(schema.get("maximum", 2**31 - 1))
    some = draw.randint(least, min(most, least + 100))
    return draw.choice([least, most, some, some, some])


def _number(draw: random.Random, schema: Schema, _name: str) -> float:
    most = float(schema.get("maximum", 1e6))
    return draw.choice([0.0, most, 1e-5, draw.uniform(0, most)])


def _pod_template(draw: random.Random) -> dict[str, Any]:
    return draw.choice(_REFUSED_TEMPLATES if draw.random() < _RARE else _POD_TEMPLATES)


def _free(draw: random.Random, schema: Schema) -> Any:  # noqa: ANN401 - JSON
    values: list[Any] = [None, True, 7, -1.5, "text", ["a", 1], {"a": {"b": []}}, 2**53]
    if schema.get("type") == "object":
        return {"width": draw.choice(values)} if draw.random() < _OFTEN else {}
    return draw.choice(values)


def _follow_rules(draw: random.Random, made: dict[str, Any]) -> None:
    """Make it likely that the rules between fields hold."""
    source = made["source"]
    if ("uri" in source) == ("uris" in source):
        source.pop("uris", None)
        source["uri"] = _string(draw, {"pattern": "s3://"}, "uri")
    if source.get("format") == "Module":
        source["allowPickle"] = True
    batch = "uris" in source or any(sign in source.get("uri", "") for sign in "*?[")
    if batch:
        made["destination"]["uri"] = draw.choice(["s3://m/{stem}/", "pvc://c/{index}-{name}/"])
        made.pop("artifact", None)
    else:
        made.pop("parallelism", None)
        made.pop("maxFailed", None)
    if batch or source.get("uri", "").endswith("/"):
        source.pop("sha256", None)
        source.pop("versionId", None)
    if not source.get("uri", "s3://").startswith("s3://"):
        source.pop("versionId", None)
    if "artifact" in made:
        made["mode"] = "Verify"
    if made.get("destination", {}).get("layout") == "Triton" and draw.random() > _RARE:
        made["destination"].pop("layout")
    made.setdefault("model", {}).setdefault("factory", "net:build")
    _follow_rules_of_inputs(draw, made)
    _follow_rules_of_export(made)


def _follow_rules_of_inputs(draw: random.Random, made: dict[str, Any]) -> None:
    used: set[str] = set()
    for number, one in enumerate(made["inputs"]):
        one["name"] = f"in{number}"
        kind = one.get("kind", "Tensor")
        if kind in {"Int", "Float", "Bool", "Constant"}:
            one.pop("shape", None)
        if kind in {"AttentionMask", "PaddingMask"} or "range" not in one:
            one.pop("range", None)
        else:
            one["range"] = sorted(one["range"])
        one.pop("length", None)
        if kind == "Sequence":
            one["length"] = draw.randint(1, 64)
        if one.get("dtype") in {"complex64", "complex128", "string"}:
            one.pop("dtype")
        used |= {text for size in one.get("shape", ()) for text in str(size) if text in "nm"}
    made["dims"] = {name: {"min": 1, "max": draw.randint(1, 512)} for name in sorted(used)}
    outputs = [f"out{number}" for number in range(len(made.get("outputs", ())))]
    if outputs:
        made["outputs"] = outputs
    else:
        made.pop("outputs", None)
    made.pop("outputShapes", None)


def _follow_rules_of_export(made: dict[str, Any]) -> None:
    export = made.get("export", {})
    if export.get("exporter") in {"Dynamo", "TorchScript"}:
        export["opset"] = 20
    if export.get("precision", "Native") != "Native":
        export.pop("weights", None)
    export.pop("calibrationInputs", None)
    if export.get("precision") == "StaticInt8":
        export["calibrationInputs"] = "s3://m/calibration/"
