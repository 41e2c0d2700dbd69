"""torchvision's families: classification, detection and segmentation, each with initial weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from modelexport_api.reasons import Reason
from seeds.case import Case, refused, tensor
from seeds.harness import Bench, each

FEW = {"batch": (1, 5)}
"""How many images at once. They are normalised: within -2.5 and 2.5, as the statistics expect."""
SCALES = (1.0, 0.5, 2.0)


@dataclass(frozen=True)
class Settled:
    """Shows images to BatchNorm, so that outputs are ordinary numbers."""

    image: tuple[int, ...]

    def __call__(self, module: torch.nn.Module) -> None:
        torch.manual_seed(1)
        norms = [part for part in module.modules() if isinstance(part, torch.nn.BatchNorm2d)]
        for norm in norms:
            norm.train()
            norm.momentum = None
            norm.reset_running_stats()
        with torch.no_grad():
            for scale in SCALES if norms else ():
                module(scale * torch.randn(4, *self.image))
        for norm in norms:
            norm.eval()


def initial(module: torch.nn.Module) -> None:
    """Leave the statistics of BatchNorm as they are made.

    Settled on noise, a hundred layers that multiply by gates amplify any rounding beyond measure.
    """
    for part in module.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.reset_running_stats()


def classifier(
    name: str,
    size: int = 64,
    settle: Callable[[torch.nn.Module], None] | None = None,
    **kwargs: Any,  # noqa: ANN401
) -> Case:
    image = (3, size, size)
    return Case(
        "",
        f"torchvision_{name}",
        "image_models:torchvision_model",
        (tensor("image", "batch", *image, low=-2.5, high=2.5),),
        FEW,
        {"name": name, "num_classes": 10, **kwargs},
        outputs=("scores",),
        edges=(),
        rtol=2e-3,
        nightly=True,
        settle=settle or Settled(image),
    )


def segmenter(name: str, size: int = 64) -> Case:
    return Case(
        "",
        f"torchvision_{name}",
        "image_models:torchvision_model",
        (tensor("image", "batch", 3, size, size, low=-2.5, high=2.5),),
        FEW,
        {"name": name, "num_classes": 4, "weights_backbone": None},
        edges=(),
        rtol=2e-3,
        nightly=True,
        settle=Settled((3, size, size)),
    )


def with_list(module: torch.nn.Module, feed: Mapping[str, torch.Tensor]) -> object:
    return module([feed["images.0"]])


def detector(name: str, size: int = 96, **kwargs: Any) -> Case:  # noqa: ANN401
    """Return a case of one image: how many boxes are found depends on it."""
    limits = {"min_size": size, "max_size": size} if "ssd" not in name else {}
    return Case(
        "",
        f"torchvision_{name}",
        "image_models:torchvision_model",
        ({**tensor("images.0", 3, size, size), "range": [0, 1]},),
        {},
        {"name": name, "weights_backbone": None, "num_classes": 3, **limits, **kwargs},
        edges=(),
        rtol=5e-3,
        nightly=True,
        or_refused=refused(
            Reason.CAPTURE_FAILED,
            Reason.CONVERSION_FAILED,
            Reason.UNSUPPORTED_OPERATOR,
            Reason.VERIFICATION_FAILED,
            Reason.RUNTIME_FAILED,
        ),
        call=with_list,
    )


CASES = (
    classifier("alexnet"),
    classifier("vgg11"),
    classifier("vgg16", 32),
    classifier("resnet34"),
    classifier("squeezenet1_1"),
    classifier("densenet121"),
    classifier("inception_v3", 75, init_weights=False, aux_logits=False),
    classifier("googlenet", init_weights=False, aux_logits=False),
    classifier("shufflenet_v2_x0_5"),
    classifier("mobilenet_v2"),
    classifier("mobilenet_v3_small"),
    classifier("resnext50_32x4d"),
    classifier("wide_resnet50_2"),
    classifier("mnasnet0_5"),
    classifier("efficientnet_b0", settle=initial),
    classifier("efficientnet_v2_s", settle=initial),
    classifier("regnet_y_400mf", settle=initial),
    classifier("vit_b_32", image_size=64),
    classifier("swin_t"),
    classifier("swin_v2_t"),
    classifier("convnext_tiny"),
    classifier("maxvit_t", 224),
    segmenter("fcn_resnet50"),
    segmenter("deeplabv3_mobilenet_v3_large"),
    segmenter("lraspp_mobilenet_v3_large"),
    detector("fasterrcnn_mobilenet_v3_large_320_fpn"),
    detector("fasterrcnn_resnet50_fpn"),
    detector("retinanet_resnet50_fpn"),
    detector("fcos_resnet50_fpn"),
    detector("ssd300_vgg16", 300),
    detector("ssdlite320_mobilenet_v3_large", 320),
    detector("maskrcnn_resnet50_fpn"),
    detector("keypointrcnn_resnet50_fpn"),
)


@pytest.mark.parametrize("case", each(CASES))
def test_family(case: Case, bench: Bench) -> None:
    bench.check(case)
