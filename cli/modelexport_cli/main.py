"""The command line: the subcommands and their flags.

Only the standard library is imported here, so that `--help` is fast.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import importlib.metadata
import signal
import sys
from collections.abc import Sequence
from typing import Any

from modelexport_cli import export_arguments, manifest_arguments, submit_checkpoint
from modelexport_cli.cluster import arguments as cluster_arguments
from modelexport_cli.command_options import Parser, add_command, add_verbose, add_work_dir
from modelexport_cli.pipes import surviving_closed_pipes

_EXIT_CODES = """\
exit codes:
  0   success                        15  verification failed
  2   wrong usage                    16  destination cannot be written
  10  manifest is invalid            17  execution provider is not available
  11  source cannot be read          18  out of memory, disk or time
  12  model cannot be loaded         19  too many checkpoints of a batch failed
  13  export failed                  70  unexpected error
  14  artifact breaks its contract   75  temporary failure, run the command again
"""
_COMPLETION = """\
examples:
  # In ~/.bashrc
  eval "$(modelexport completion bash)"

  # zsh: into a directory of $fpath
  modelexport completion zsh > ~/.zfunc/_modelexport

  # fish
  modelexport completion fish > ~/.config/fish/completions/modelexport.fish
"""
_EXPLAIN = """\
examples:
  # What does it mean, and what helps?
  modelexport explain VerificationFailed

  # A line for each reason
  modelexport explain
"""
_INTERRUPTED = 128 + signal.SIGINT
_WITH_WORKERS = frozenset({"export", "init", "run", "verify", "diagnose"})


def main(arguments: Sequence[str] | None = None, prog: str = "modelexport") -> int:
    """Run the command; return its exit code."""
    try:
        with surviving_closed_pipes():
            return _run(parser(prog).parse_args(arguments))
    except KeyboardInterrupt:  # while it imports: later, a run ends with a reason
        print(f"{prog}: interrupted", file=sys.stderr)
        return _INTERRUPTED


def _run(args: argparse.Namespace) -> int:
    if args.command in _WITH_WORKERS:
        # Before all imports, which take a second: a sign that the command has begun.
        subject = args.manifest if "manifest" in args else args.checkpoint
        print(f"modelexport {_version()}: {args.command} {subject}", file=sys.stderr)
        from modelexport_exporter.isolation.server import start_early

        start_early()
        # The interpreter would look through all objects twice when it ends, which takes 0.1 s.
        atexit.register(gc.freeze)
    return int(args.handler(args))


def kubectl() -> int:
    """Run the command as the plugin of kubectl, which finds it as `kubectl-modelexport`."""
    return main(prog="kubectl modelexport")


def parser(prog: str = "modelexport") -> argparse.ArgumentParser:
    """Return what the command line can be."""
    parser = Parser(
        prog=prog,
        description="Export PyTorch checkpoints to verified ONNX files.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(
        dest="command", required=True, title="commands", metavar="COMMAND"
    )
    _add_export(commands)
    _add_init(commands)
    manifest_arguments.add_commands(commands)
    submit = cluster_arguments.add_commands(commands, prog)
    submit_checkpoint.let_submit_take_checkpoints(submit, prog)
    _add_explain(commands)
    _add_completion(commands)
    return parser


def _add_export(commands: Any) -> None:  # noqa: ANN401 - argparse hides its type
    export = add_command(
        commands,
        "export",
        "export and verify a checkpoint, without a manifest",
        "Find out what the model takes, show it, then export, verify and publish on this\n"
        "machine. Inputs, dims and ranges that are not stated are found by running the model.",
        export_arguments.EXPORT,
    )
    export_arguments.add_export_options(export)
    add_work_dir(export)
    add_verbose(export)


def _add_init(commands: Any) -> None:  # noqa: ANN401
    init = add_command(
        commands,
        "init",
        "write the manifest of a checkpoint",
        "Find out what the model takes, and write a manifest in which every value that was\n"
        "found, not stated, is marked.",
        export_arguments.INIT,
    )
    export_arguments.add_init_options(init)
    add_work_dir(init)
    add_verbose(init)


def _add_explain(commands: Any) -> None:  # noqa: ANN401
    explain = add_command(
        commands,
        "explain",
        "explain why an export failed, by the reason it reported",
        "Print what a reason means and what helps, as the page docs/reasons.md has it.",
        _EXPLAIN,
    )
    explain.add_argument("reason", nargs="?", metavar="REASON", help="leave it out to list all")
    explain.set_defaults(handler=_explain)


def _explain(args: argparse.Namespace) -> int:
    from modelexport_cli.explain import print_explanation

    return print_explanation(args.reason)


def _add_completion(commands: Any) -> None:  # noqa: ANN401
    completion = add_command(
        commands,
        "completion",
        "print a script by which a shell completes commands",
        "Print the script by which a shell completes commands, options and files.",
        _COMPLETION,
    )
    completion.add_argument(
        "shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish"
    )
    completion.set_defaults(handler=_complete)


def _complete(args: argparse.Namespace) -> int:
    from modelexport_cli.completion import print_completion

    return print_completion(parser(), args.shell)


def _version() -> str:
    return importlib.metadata.version("modelexport")


class _Version(argparse.Action):
    """Reads the version only when `--version` is given."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"modelexport {_version()}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
