"""Times the runs that run.sh prepared, and prints the table."""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

# The most that the loop may add to a quest, in milliseconds.
MOST = 50

AGENT = ["/usr/bin/printf", '{"answer":"right as rain"}']

# About as long as the lines of one quest are in the ledger.
LINES = b"x" * 2500


@dataclass(frozen=True)
class Took:
    """What something took, in seconds: by the clock, and of the processors."""

    wall: float
    cpu: float


def used():
    """The processor time of this process and of all that it has waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    usages = [resource.getrusage(kind) for kind in kinds]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def timed(work):
    """What `work` took."""
    wall, cpu = time.perf_counter(), used()
    work()
    return Took(time.perf_counter() - wall, used() - cpu)


def checked(command, **kwargs):
    ended = subprocess.run(command, capture_output=True, **kwargs)
    if ended.returncode != 0:
        raise SystemExit(f"exit {ended.returncode}: {' '.join(command)}\n{ended.stderr.decode()}")
    return ended.stdout


class Bench:
    """Everything that is timed."""

    def __init__(self, args):
        self.args = args
        self.session = str(args.work / "session")

    def starts(self):
        """The agent alone, as often."""
        numbers = "\n".join(["x"] * self.args.quests).encode()
        # `-I` makes one start of each line, and puts nothing into it.
        alone = ["xargs", "-P", str(self.args.workers), "-I", "{}", *AGENT]
        return timed(lambda: checked(alone, input=numbers))

    def writes(self):
        """One append a quest that is on disk before the next."""
        place = self.args.work / "appended"
        file = os.open(place, os.O_CREAT | os.O_WRONLY | os.O_APPEND)

        def append():
            for _ in range(self.args.quests):
                os.write(file, LINES)
                os.fsync(file)

        took = timed(append)
        os.close(file)
        place.unlink()
        return took

    def run(self, program):
        """A whole run over a new session, which must settle every quest at its first start."""
        shutil.rmtree(self.session, ignore_errors=True)
        comail = [program, "--session", self.session]
        work = self.args.work
        checked([*comail, "scan", str(work / "list.txt"), "--quest", str(work / "quest.toml")])
        drive = [*comail, "run", "--answer", "stdout", "--parallel", str(self.args.workers)]
        took = timed(lambda: checked([*drive, "--", *AGENT]))
        status = json.loads(checked([*comail, "--json", "status"]))
        if status["tally"]["pass"] != self.args.quests:
            raise SystemExit(f"not every quest passed: {status['tally']}")
        return took

    def rounds(self):
        """The median of each. The rounds are interleaved, so that a slow moment of the machine
        hits all alike; the first round warms the caches and does not count."""
        cases = {"starts of the agent alone": self.starts, "an append and an fsync": self.writes}
        programs = [("comail run", self.args.program)]
        if self.args.against:
            programs.append(("comail run, before", self.args.against))
        for name, program in programs:
            cases[name] = lambda program=program: self.run(program)
        took = {name: [] for name in cases}
        for turn in range(self.args.rounds + 1):
            for name, case in cases.items():
                one = case()
                if turn:
                    took[name].append(one)
        return {
            name: Took(
                statistics.median(one.wall for one in all),
                statistics.median(one.cpu for one in all),
            )
            for name, all in took.items()
        }


def table(args, medians):
    """Prints it; what the loop adds to a quest, in milliseconds."""
    print(f"{args.quests:,} quests, {args.workers} agents at once, {os.cpu_count()} cores")
    print(f"{'ms a quest':<28}{'wall':>9}{'cpu':>9}{'own wall':>10}{'own cpu':>9}")
    alone, *_ = medians.values()
    owns = []
    for name, took in medians.items():
        wall, cpu = (seconds / args.quests * 1e3 for seconds in (took.wall, took.cpu))
        row = f"{name:<28}{wall:>9.2f}{cpu:>9.2f}"
        if name.startswith("comail"):
            own = [
                (mine - theirs) / args.quests * 1e3
                for mine, theirs in ((took.wall, alone.wall), (took.cpu, alone.cpu))
            ]
            owns.append(own[0])
            row += f"{own[0]:>10.2f}{own[1]:>9.2f}"
        print(row)
    return owns[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quests", type=int, required=True)
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--against")
    parser.add_argument("program")
    parser.add_argument("work", type=Path)
    args = parser.parse_args()
    own = table(args, Bench(args).rounds())
    if own >= MOST:
        raise SystemExit(f"the loop adds {own:.1f} ms to a quest, and may add {MOST}")


main()
