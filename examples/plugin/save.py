"""Write the checkpoint of the example: python examples/plugin/save.py."""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))

from snake import build


def main():
    target = Path(__file__).parents[2] / "build" / "plugin" / "checkpoint.pt"
    target.parent.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    torch.save(build().state_dict(), target)
    print(f"{target}: example::snake in a network")


if __name__ == "__main__":
    main()
