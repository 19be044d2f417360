"""The web server, the workers and the count of fleet.sh."""

import argparse
import asyncio
import collections
import hashlib
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

GATE_SECONDS = 0.05
KILL_EVERY = 5
# What is asked of the web server is spread over so many hosts: a host is asked one thing at a time.
HOSTS = 200
# The workers are tasks of so many processes.
PROCESSES = 2


async def reply(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    await asyncio.sleep(GATE_SECONDS)
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
    await writer.drain()
    writer.close()


async def pages():
    server = await asyncio.start_server(reply, "0.0.0.0", 0, backlog=1000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def call(port, token, method, body):
    """The status, headers and document of one call."""
    text = json.dumps(body).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        head = (
            f"POST /v1/{method} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(text)}\r\nconnection: close\r\n\r\n"
        )
        writer.write(head.encode() + text)
        answer = await reader.read()
    finally:
        writer.close()
    head, _, text = answer.partition(b"\r\n\r\n")
    if not head:
        raise ConnectionError("no answer")
    return int(head.split()[1]), json.loads(text)


class Worker:
    def __init__(self, number, token, ports, page_port, end):
        self.number, self.token, self.ports, self.end = number, token, ports, end
        self.page = f"http://127.0.0.{number % HOSTS + 1}:{page_port}/w{number}"
        self.acknowledged, self.times, self.retried = [], [], 0

    async def until_answered(self, method, body):
        """Tries again, at any judge, as the server says: the answer is recorded once."""
        while time.time() < self.end:
            try:
                status, told = await call(random.choice(self.ports), self.token, method, body)
                if status in (200, 409):
                    return told
            except (OSError, asyncio.IncompleteReadError, ValueError):
                pass
            self.retried += 1
            await asyncio.sleep(1)
        return None

    async def work(self):
        turn = 0
        while time.time() < self.end:
            turn += 1
            told = await self.until_answered("next", {})
            if not told or "quest" not in told:
                return
            answer = f"{self.page}-{turn}"
            body = {
                "id": told["quest"]["id"],
                "fields": {"page": answer},
                "idempotency_key": hashlib.sha256(answer.encode()).hexdigest(),
            }
            began = time.time()
            told = await self.until_answered("submit", body)
            if told and told.get("verdict") == "PASS":
                self.times.append(time.time() - began)
                self.acknowledged.append(answer)
            elif told:
                print(told, file=sys.stderr)


async def work(workers):
    await asyncio.gather(*(worker.work() for worker in workers))


def work_in_process(args):
    workers = [Worker(*one) for one in args]
    asyncio.run(work(workers))
    return [(one.acknowledged, one.times, one.retried) for one in workers]


class Judge:
    def __init__(self, round, number):
        self.command = [round.program, "--session", round.of_machine(number), "serve", "--json"]
        self.place = "127.0.0.1:0"
        self.start()

    def start(self):
        command = [*self.command, "--listen", self.place]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        told = self.process.stdout.readline()
        if told:
            self.place = json.loads(told)["server"].removeprefix("http://")

    @property
    def port(self):
        return int(self.place.rpartition(":")[2])

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Round:
    def __init__(self, args):
        self.args, self.program = args, args.program
        self.session = args.session

    def of_machine(self, number):
        """The session as another machine sees it: with a mirror of its own."""
        if "://" not in self.session:
            return self.session
        return f"{self.session}&mirror={Path.cwd()}/{self.args.name.replace(' ', '-')}-{number}"

    def run(self, *words):
        command = [self.program, "--session", self.session, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def token(self, number):
        return json.loads(self.run("token", "new", "--worker", f"w{number}", "--json"))["token"]

    def play(self):
        with ThreadPoolExecutor(4) as pool:
            tokens = list(pool.map(self.token, range(self.args.workers)))
        judges = [Judge(self, number) for number in range(self.args.judges)]
        ports = [judge.port for judge in judges]
        end = time.time() + self.args.seconds
        workers = [
            (number, token, ports, self.args.page_port, end) for number, token in enumerate(tokens)
        ]
        with multiprocessing.Pool(PROCESSES) as pool:
            shares = [workers[at::PROCESSES] for at in range(PROCESSES)]
            working = pool.map_async(work_in_process, shares, 1)
            self.break_things(judges, end)
            done = [one for share in working.get() for one in share]
        for judge in judges:
            judge.process.terminate()
            judge.process.wait()
        return done

    def break_things(self, judges, end):
        if not self.args.restart:
            return
        restart_at = end - self.args.seconds / 2
        turn = 0
        while time.time() + KILL_EVERY < end:
            time.sleep(KILL_EVERY)
            judge = judges[turn % len(judges)]
            turn += 1
            judge.kill()
            if restart_at and time.time() > restart_at:
                restart_at = None
                subprocess.run(["bash", "-c", self.args.restart], check=True)
            judge.start()

    def count(self, done):
        acknowledged = [answer for answers, _, _ in done for answer in answers]
        times = sorted(taken for _, of_one, _ in done for taken in of_one)
        retried = sum(retried for _, _, retried in done)
        attempts = [
            json.loads(line)["body"]
            for line in self.run("log", "--json", "--type", "attempt").splitlines()
        ]
        answers = collections.Counter(it["submission"]["fields"]["page"] for it in attempts)
        quests = collections.Counter(it["quest"] for it in attempts)
        lost = sum(answer not in answers for answer in acknowledged)
        double = sum(n > 1 for n in answers.values()) + sum(n > 1 for n in quests.values())
        audit = subprocess.run(
            [self.program, "--session", self.session, "audit"], capture_output=True, text=True
        )
        if not times:
            print(f"{self.args.name}: no answer")
            return False
        share = lambda part: times[min(len(times) - 1, int(len(times) * part))]
        print(
            f"{self.args.name}: {len(times) / self.args.seconds:.1f} answers a second, "
            f"p50 {share(0.5):.2f} s, p99 {share(0.99):.2f} s; {len(acknowledged)} acknowledged, "
            f"{lost} lost, {double} double, {retried} calls repeated, audit exit {audit.returncode}",
            flush=True,
        )
        if audit.returncode:
            print(audit.stdout[-2000:], audit.stderr[-2000:])
        return not (lost or double or audit.returncode)


def main():
    parser = argparse.ArgumentParser()
    modes = parser.add_subparsers(dest="mode", required=True)
    modes.add_parser("pages")
    round = modes.add_parser("round")
    round.add_argument("--name", required=True)
    round.add_argument("--program", required=True)
    round.add_argument("--session", required=True)
    round.add_argument("--judges", type=int, required=True)
    round.add_argument("--workers", type=int, required=True)
    round.add_argument("--seconds", type=float, required=True)
    round.add_argument("--page-port", type=int, required=True)
    round.add_argument("--restart", help="the shell command that crashes and starts the database")
    args = parser.parse_args()
    if args.mode == "pages":
        asyncio.run(pages())
        return 0
    round = Round(args)
    return 0 if round.count(round.play()) else 1


sys.exit(main())
