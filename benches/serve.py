"""The clients of serve.sh: how long answers take, and whether the ledger has each one once."""

import collections
import http.client
import json
import pathlib
import random
import socket
import subprocess
import sys
import threading
import time

CLIENTS = 200
FLOODING = 20
SLOW = 20
KILLED = 20
# Between two answers of an agent.
PAUSE = 4.0

program, server, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])


def lines(*args):
    return subprocess.run([program, *args], check=True, capture_output=True, text=True).stdout


class Client:
    def __init__(self, number, host):
        self.number = number
        self.host = host
        made = lines("token", "new", "--worker", f"w{number}", "--json")
        self.token = json.loads(made)["token"]
        self.acknowledged = []
        self.times = []
        self.refused = 0

    def headers(self):
        return {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request(method, path, json.dumps(body) if body else None, self.headers())
        reply = connection.getresponse()
        text = reply.read()
        connection.close()
        return reply.status, text

    def answer(self, turn):
        status, text = self.call("POST", "/v1/next")
        if status != 200:
            self.refused += 1
            return
        body = {"id": json.loads(text)["quest"]["id"], "none": f"w{self.number}-{turn}"}
        began = time.monotonic()
        status, text = self.call("POST", "/v1/submit", body)
        if status == 200 and json.loads(text)["status"] == "judged":
            self.times.append(time.monotonic() - began)
            self.acknowledged.append(body["none"])
        else:
            self.refused += 1

    def send_and_die(self, turn):
        _, text = self.call("POST", "/v1/next")
        body = json.dumps({"id": json.loads(text)["quest"]["id"], "none": f"w{self.number}-{turn}"})
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request("POST", "/v1/submit", body, self.headers())
        connection.close()

    def dawdle(self):
        host, port = self.host.split(":")
        with socket.create_connection((host, int(port)), timeout=60) as stream:
            for byte in b"POST /v1/submit HTTP/1.1\r\n" * 100:
                stream.send(bytes([byte]))
                time.sleep(0.5)
                if time.monotonic() > end:
                    return

    def run(self):
        kind = self.number
        turn = 0
        time.sleep(random.uniform(0, PAUSE))
        while time.monotonic() < end:
            turn += 1
            try:
                if kind < FLOODING:
                    status, _ = self.call("GET", "/v1/status")
                    self.refused += status != 200
                elif kind < FLOODING + SLOW:
                    self.dawdle()
                elif kind < FLOODING + SLOW + KILLED:
                    self.send_and_die(turn)
                    time.sleep(PAUSE)
                else:
                    self.answer(turn)
                    time.sleep(random.uniform(PAUSE / 2, PAUSE * 3 / 2))
            except (OSError, http.client.HTTPException, KeyError):
                self.refused += 1


while not (told := pathlib.Path("serving.json").read_text()):
    time.sleep(0.05)
address = json.loads(told)["server"].removeprefix("http://")
clients = [Client(number, address) for number in range(CLIENTS)]
end = time.monotonic() + seconds
threads = [threading.Thread(target=client.run) for client in clients]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

events = [json.loads(line)["body"] for line in lines("log", "--json", "--type", "attempt").splitlines()]
seen = collections.Counter(event["submission"]["none"] for event in events)
acknowledged = [text for client in clients for text in client.acknowledged]
times = sorted(taken for client in clients for taken in client.times)
lost = [text for text in acknowledged if not seen[text]]
twice = [text for text, count in seen.items() if count > 1]
memory = pathlib.Path(f"/proc/{server}/status").read_text()
peak = next(line.split()[1] for line in memory.splitlines() if line.startswith("VmHWM"))


def share(part):
    return f"{1000 * times[min(len(times) - 1, int(len(times) * part))]:.1f} ms"


print(f"{CLIENTS} clients for {seconds:.0f} s: {len(acknowledged)} answers acknowledged")
print(f"{len(events)} answers in the ledger, {len(lost)} lost, {len(twice)} judged twice")
print(f"{sum(client.refused for client in clients)} calls refused or cut off")
if times:
    print(f"an answer takes {share(0.5)} (median), {share(0.99)} (p99), {share(1)} (most)")
print(f"peak memory of the server: {int(peak) // 1024} MB")
sys.exit(1 if lost or twice or not times else 0)
