"""The commands of ./dev and their arguments."""

import argparse

from . import building, machine
from .common import Failure, warn


def parse():
    parser = argparse.ArgumentParser(prog="./dev", description="Sets up, builds and runs torchtrt.")
    commands = parser.add_subparsers(dest="command", required=True)

    build = commands.add_parser("build", help="build everything, or the named targets")
    build.add_argument("--preset", choices=building.PRESETS, default="release")
    build.add_argument("targets", nargs="*", metavar="TARGET")
    build.set_defaults(call=lambda args: building.build(args.preset, args.targets))

    return parser.parse_args()


def main() -> int:
    args = parse()
    try:
        machine.make_ready()
        return args.call(args) or 0
    except Failure as failure:
        warn(f"dev: {failure}")
        return 1
    except KeyboardInterrupt:
        return 130
