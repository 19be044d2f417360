"""Times the commands on the lists that processes.sh made, and prints the table."""

import argparse
import ctypes
import os
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Bench:
    """One command on a session of one list."""

    name: str
    ending: str
    args: str
    # Makes the session anew each time, rather than working on one that is there.
    fresh: bool = False

    def command(self, program, work, size, turn):
        places = {
            "list": work / f"list-{size}.{self.ending}",
            "out": work / f"out-{size}.{self.ending}",
            "turn": turn,
        }
        words = [word.format(**places) for word in self.args.split()]
        return [program, "--session", self.session(work, size), *words]

    def session(self, work, size):
        name = f"{'fresh' if self.fresh else 'session'}-{size}-{self.ending}"
        place = str(work / name)
        return f"{DATABASE}&session={name}&mirror={place}" if DATABASE else place


# The address of the database that has the sessions, if it is not a directory.
DATABASE = None


# No quest is settled by being asked for again and again.
SCAN = "scan {list} --col company --max-tries 1000000 --set pause-after=0"

BENCHES = [
    Bench("--version", "csv", "--version"),
    Bench("next", "csv", "next"),
    Bench("status", "csv", "status"),
    # Fails at the first step; another address each time, so that it is no repeat.
    Bench("submit", "csv", "submit --id 7 --site nowhere --email {turn} --source nowhere"),
    Bench("audit", "csv", "audit"),
    Bench("scan .csv", "csv", SCAN, fresh=True),
    Bench("scan .xlsx", "xlsx", SCAN, fresh=True),
    Bench("export .csv", "csv", "export --out {out} --force"),
    Bench("export .xlsx", "xlsx", "export --out {out} --force"),
]


def timed():
    """A database has no scans: a session is made there once. Nor does it matter what the list was."""
    return [bench for bench in BENCHES if not DATABASE or (bench.ending == "csv" and not bench.fresh)]


# What takes longer than this is timed less often: its time says enough.
LONG_SECONDS = 2
LONG_ROUNDS = 3


def seconds(command):
    """The wall time of one run."""
    begun = time.perf_counter()
    status = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took = time.perf_counter() - begun
    # 5 is a submission that failed: here that is what was wanted.
    if status.returncode not in (0, 5):
        raise SystemExit(f"exit {status.returncode}: {' '.join(command)}")
    return took


def become_reaper():
    """Makes this process the one that waits for what its children leave behind."""
    set_child_subreaper = 36
    ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)


def peak_bytes(command):
    """The most memory that one run held.

    A process counts as its own what its parent held when it was born, and Python holds more
    than the program does. So a shell starts it and goes away.
    """
    shell = ["sh", "-c", '"$@" >/dev/null 2>&1 &', "sh", *command]
    child = os.posix_spawn("/bin/sh", shell, os.environ)
    ended = dict(os.wait4(-1, 0)[::2] for _ in range(2))
    del ended[child]
    (usage,) = ended.values()
    return usage.ru_maxrss * 1024


class Runs:
    """Every run of every program, command and size."""

    def __init__(self, programs, work, sizes):
        self.programs, self.work, self.sizes = programs, work, sizes
        self.turns = 0
        for size in sizes:
            for ending in {bench.ending for bench in timed()}:
                seconds(Bench("", ending, SCAN).command(programs[-1], work, size, 0))

    def command(self, bench, program, size):
        self.turns += 1
        if bench.fresh:
            shutil.rmtree(bench.session(self.work, size), ignore_errors=True)
        return bench.command(program, self.work, size, self.turns)

    def cases(self):
        return [
            (bench, program, size)
            for bench in timed()
            for size in self.sizes
            for program in self.programs
        ]

    def times(self, rounds):
        """The median of each case. The rounds are interleaved, so that a slow moment of the
        machine hits every case alike; the first round warms the caches and does not count."""
        times = {case: [] for case in self.cases()}
        for turn in range(rounds + 1):
            for case, known in times.items():
                if len(known) >= LONG_ROUNDS and min(known) > LONG_SECONDS:
                    continue
                took = seconds(self.command(*case))
                if turn:
                    known.append(took)
        return {case: statistics.median(took) for case, took in times.items()}

    def peaks(self):
        return {case: peak_bytes(self.command(*case)) for case in self.cases()}


def table(runs, times, peaks):
    small = runs.sizes[0]
    print(f"{'command':<14}{'quests':>10}{'ms':>10}{'to ' + str(small):>10}{'MB':>9}", end="")
    print(f"{'before ms':>12}{'MB':>9}{'faster':>9}" if len(runs.programs) > 1 else "")
    for bench in timed():
        for size in runs.sizes:
            new, *old = [(bench, program, size) for program in runs.programs]
            ratio = times[new] / times[bench, new[1], small]
            row = f"{bench.name:<14}{size:>10,}{times[new] * 1e3:>10.1f}{ratio:>9.1f}x"
            row += f"{peaks[new] / 1e6:>9.1f}"
            for before in old:
                row += f"{times[before] * 1e3:>12.1f}{peaks[before] / 1e6:>9.1f}"
                row += f"{times[before] / times[new]:>8.1f}x"
            print(row)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--against")
    parser.add_argument("--postgres", metavar="ADDRESS")
    parser.add_argument("program")
    parser.add_argument("work", type=Path)
    parser.add_argument("sizes", type=int, nargs="+")
    args = parser.parse_args()
    global DATABASE
    DATABASE = args.postgres
    become_reaper()
    programs = [args.program] + ([args.against] if args.against else [])
    runs = Runs(programs, args.work, args.sizes)
    table(runs, runs.times(args.rounds), runs.peaks())


main()
