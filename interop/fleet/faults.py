"""Runs fleets of separate processes through faults and checks that the totals add up.

For each scenario: what the mock server logged, what the agents' own lines and journals say, and what the coordinator
has in fleet.json. Usage: faults.py AIPERF DIR [SCENARIO...]

What adds up: sent = recorded + cut off + lost, and the ids of the requests that the server logged are those of the
requests that were recorded, of those that were cut off, unless they had not left yet, and of as many others as were
lost. Of an agent that is lost and does not come back the number sent is a lower bound: there may be as many more ids as
may be unknown at most.
"""
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

AIPERF, DIR = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ONLY = sys.argv[3:]
TOKEN = "a-token-of-the-check"
ENV = dict(os.environ, AIPERF_NATS_TOKEN=TOKEN, AIPERF_SERVICE_HEARTBEAT_INTERVAL="1")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Proxy(threading.Thread):
    """A TCP proxy that can delay what passes, hold it back, or cut all connections and refuse new ones."""

    def __init__(self, to):
        super().__init__(daemon=True)
        self.to, self.delay, self.held, self.cut, self.all = to, 0.0, False, False, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.cut:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                near.close()
                continue
            self.all += [near, far]
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self.pump, args=(a, b), daemon=True).start()

    def pump(self, a, b):
        try:
            while data := a.recv(1 << 16):
                time.sleep(self.delay)
                while self.held:
                    time.sleep(0.05)
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def partition(self):
        self.cut = True
        for s in self.all:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.all = []

    def heal(self):
        self.cut = self.held = False


class Scenario:
    """A mock server, a coordinator and three agents."""

    def __init__(self, name, agents=3, args=(), env=None, nats=None, through_proxy=(), dirs=None, local=False):
        self.dir = os.path.join(DIR, name)
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(self.dir)
        self.processes, self.name, self.env = [], name, dict(ENV, **(env or {}))
        log = os.path.join(self.dir, "server.log")
        self.server = self.start([AIPERF, "mock-server", "--port", "0", "--ttft", "30", "--itl", "5",
                                  "--record-requests", os.path.join(self.dir, "requests.jsonl")], log)
        self.url = wait_for(lambda: find(log, r"http://[0-9.:]+"))
        self.port = nats or free_port()
        where = ["--nats-url", f"nats://127.0.0.1:{nats}"] if nats else ["--nats-listen", f"127.0.0.1:{self.port}"]
        self.args = ([AIPERF, "profile", "--model", "m", "--url", self.url, "--streaming", "--tokenizer", "builtin",
                      "--isl", "32", "--osl", "10", "--ui", "none", "--no-server-metrics", "--no-gpu-telemetry",
                      "--random-seed", "3", "--report", "short", "--agents" if local else "--wait-for-agents",
                      str(agents)] + ([] if local else where) +
                     ["--artifact-dir", os.path.join(self.dir, "out")] + list(args))
        self.coordinator = self.start(self.args, os.path.join(self.dir, "coordinator.log"))
        self.agents, self.proxies = [], {}
        for i in range(0 if local else agents):
            self.agent(i, i in through_proxy, (dirs or {}).get(i))

    def start(self, command, log):
        with open(log, "ab") as out:
            p = subprocess.Popen(command, stdout=out, stderr=out, env=self.env, start_new_session=True)
        self.processes.append(p)
        return p

    def agent(self, i, through_proxy=False, place=None, env=None):
        port = self.port
        if through_proxy:
            self.proxies[i] = Proxy(self.port)
            port = self.proxies[i].port
        p = self.start([AIPERF, "agent", "--join", f"nats://127.0.0.1:{port}", "--name", f"a{i}", "--keep-journals",
                        "--dir", place or os.path.join(self.dir, f"a{i}"), "--cache-dir", os.path.join(self.dir, "cache")],
                       os.path.join(self.dir, f"a{i}.log"))
        self.agents.append(p)
        return p

    def local(self, name):
        """The process of an agent that the coordinator started."""
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path, "rb") as f:
                    words = f.read().split(b"\0")
                with open(os.path.join(os.path.dirname(path), "stat")) as f:
                    parent = int(f.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if parent == self.coordinator.pid and name.encode() in words:
                return int(path.split("/")[2])
        raise SystemExit(f"there is no process of {name}")

    def journals(self):
        """What the journals of the agents count as sent, by name."""
        counts = {}
        for path in glob.glob(os.path.join(self.dir, "a[0-9]", "*", "records.journal")):
            said = subprocess.run([AIPERF, "agent", "--read-journal", path], capture_output=True, text=True, check=True)
            counts[path.split("/")[-3]] = int(re.match(r"(\d+) requests sent", said.stdout).group(1))
        return counts

    def lost(self, name):
        wait_for(lambda: f"{name} is lost" in self.text("coordinator"))

    def sending(self, n=20):
        """Waits until the server has had some requests."""
        wait_for(lambda: self.logged() >= n)

    def logged(self):
        return sum("completions" in line for line in self.lines("requests.jsonl"))

    def lines(self, *path):
        """The lines of a file; none where it does not exist."""
        try:
            with open(os.path.join(self.dir, *path)) as f:
                return f.readlines()
        except FileNotFoundError:
            return []

    def requests(self):
        """The ids of the requests that the server logged, those of the records, and those of the requests that were cut
        off, with whether they were answered before."""
        logged = [json.loads(line)["request_id"] for line in self.lines("requests.jsonl")]
        recorded = [json.loads(line)["metadata"]["x_request_id"] for line in self.lines("out", "profile_export.jsonl")]
        cut = {}
        for line in self.lines("out", "profile_export_raw.jsonl"):
            m = (r := json.loads(line))["metadata"]
            if m.get("was_cut_off"):
                cut[m["x_request_id"]] = r.get("status") is not None
        return logged, recorded, cut

    def finish(self, timeout=90):
        self.coordinator.wait(timeout)
        time.sleep(0.2)
        for p in self.agents:
            try:
                p.send_signal(signal.SIGCONT)
                p.wait(30)
            except subprocess.TimeoutExpired:
                pass
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(20)

    def fleet(self):
        with open(os.path.join(self.dir, "out", "fleet.json")) as f:
            return json.load(f)

    def result(self):
        with open(os.path.join(self.dir, "out", "profile_export_aiperf.json")) as f:
            return json.load(f)

    def text(self, who):
        with open(os.path.join(self.dir, who + ".log"), errors="replace") as f:
            return f.read()

    def close(self):
        for p in self.processes:
            if p.poll() is None:
                p.kill()
                p.wait()


def find(path, pattern):
    try:
        with open(path) as f:
            m = re.search(pattern, f.read())
            return m and m.group(0)
    except FileNotFoundError:
        return None


def wait_for(what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if got := what():
            return got
        time.sleep(0.05)
    raise SystemExit(f"waited {seconds} s in vain")


SCENARIOS = {}


def scenario(f):
    SCENARIOS[f.__name__] = f
    return f


# Raw exchanges have the ids of requests that were cut off.
LOAD = ("--request-rate", "60", "--benchmark-duration", "8", "--export-level", "raw")


@scenario
def nothing():
    s = Scenario("nothing", args=LOAD)
    s.finish()
    return s, dict(code=0, lost=0, agents=[0, 0, 0])


@scenario
def killed():
    s = Scenario("killed", args=LOAD)
    s.sending(90)
    s.agents[1].kill()
    s.finish()
    return s, dict(code=1, lost=1, agents=[0, -9, 0], says="a1 is lost")


@scenario
def hangs():
    s = Scenario("hangs", args=LOAD)
    s.sending(90)
    s.agents[1].send_signal(signal.SIGSTOP)
    s.lost("a1")
    s.agents[1].send_signal(signal.SIGCONT)
    s.finish()
    return s, dict(code=1, lost=1, says="a1 is lost", agents=[0, 1, 0], exact=True)


@scenario
def hangs_for_good():
    s = Scenario("hangs_for_good", args=LOAD)
    s.sending(90)
    s.agents[1].send_signal(signal.SIGSTOP)
    s.finish()
    return s, dict(code=1, lost=1, says="is a lower bound", agents=[0, 1, 0])


@scenario
def local_killed():
    s = Scenario("local_killed", args=LOAD, local=True)
    s.sending(90)
    os.kill(s.local("agent-2"), signal.SIGKILL)
    s.finish()
    return s, dict(code=1, lost=1, says="The journal of the agent agent-2 was read", journal="agent-2")


@scenario
def local_hangs():
    s = Scenario("local_hangs", args=LOAD, local=True)
    s.sending(90)
    os.kill(s.local("agent-2"), signal.SIGSTOP)
    s.finish()
    return s, dict(code=1, lost=1, says="The journal of the agent agent-2 was read", journal="agent-2")


@scenario
def terminated():
    s = Scenario("terminated", args=LOAD)
    s.sending(90)
    s.agents[1].terminate()
    s.finish()
    return s, dict(code=1, lost=1, agents=[0, 143, 0], says="a1 is lost", drained=True)


@scenario
def short_partition():
    s = Scenario("short_partition", args=LOAD, through_proxy=(1,))
    s.sending(90)
    s.proxies[1].partition()
    time.sleep(2)
    s.proxies[1].heal()
    s.finish()
    return s, dict(code=0, lost=0, agents=[0, 0, 0])


@scenario
def long_partition():
    s = Scenario("long_partition", args=LOAD, through_proxy=(1,))
    s.sending(90)
    s.proxies[1].partition()
    s.lost("a1")
    s.proxies[1].heal()
    s.finish()
    return s, dict(code=1, lost=1, says="a1 is lost", agents=[0, 1, 0], exact=True)


@scenario
def cut_off_for_good():
    s = Scenario("cut_off_for_good", args=LOAD, through_proxy=(1,))
    s.sending(90)
    s.proxies[1].partition()
    s.coordinator.wait(90)
    s.agents[1].wait(120)  # it goes on for 60 s without its coordinator
    s.finish()
    return s, dict(code=1, lost=1, says="is a lower bound", agent_says="its journal is")


@scenario
def slow_link():
    s = Scenario("slow_link", args=LOAD, through_proxy=(1,))
    s.proxies[1].delay = 0.01
    s.finish()
    return s, dict(code=0, lost=0, agents=[0, 0, 0])


@scenario
def stalled_link():
    s = Scenario("stalled_link", args=LOAD, through_proxy=(1,))
    s.sending(90)
    s.proxies[1].held = True
    time.sleep(1.5)
    s.proxies[1].held = False
    s.finish()
    return s, dict(code=0, lost=0, agents=[0, 0, 0])


@scenario
def too_few():
    s = Scenario("too_few", args=LOAD, env={"AIPERF_WORKER_MIN_ALIVE_FRACTION": "0.8"})
    s.sending(60)
    s.agents[2].kill()
    s.finish()
    return s, dict(code=1, lost=1, says="AIPERF_WORKER_MIN_ALIVE_FRACTION")


@scenario
def all_killed():
    s = Scenario("all_killed", args=LOAD)
    s.sending(90)
    for p in s.agents:
        p.kill()
    s.finish()
    return s, dict(code=1, lost=3, says="all agents are lost")


@scenario
def interrupted():
    s = Scenario("interrupted", args=LOAD)
    s.sending(90)
    s.coordinator.send_signal(signal.SIGINT)
    s.finish()
    return s, dict(code=0, lost=0, agents=[0, 0, 0])


@scenario
def coordinator_killed():
    s = Scenario("coordinator_killed", args=LOAD)
    s.sending(90)
    s.coordinator.kill()
    s.coordinator.wait()
    for p in s.agents:
        p.wait(120)
    s.server.send_signal(signal.SIGTERM)
    s.server.wait(20)
    return s, dict(code=-9, none=True, agents=[1, 1, 1], agent_says="coordinator was not heard of")


@scenario
def coordinator_restarted():
    s = Scenario("coordinator_restarted", args=LOAD)
    s.sending(90)
    s.coordinator.kill()
    s.coordinator.wait()
    s.coordinator = s.start(s.args, os.path.join(s.dir, "coordinator.log"))
    for p in s.agents:
        p.wait(30)
    before = sum(s.journals().values())
    for i in range(3, 6):
        s.agent(i)
    s.finish()
    return s, dict(code=0, lost=0, agents=[1, 1, 1, 0, 0, 0], agent_says="the coordinator is another process now",
                   before=before)


@scenario
def full_disk():
    place = os.path.join(DIR, "small")
    os.makedirs(place, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", place], capture_output=True).returncode:
        return None, "a small file system cannot be mounted here"
    try:
        s = Scenario("full_disk", args=LOAD, dirs={1: place})
        s.finish()
    finally:
        subprocess.run(["umount", place], capture_output=True)
    return s, dict(code=0, lost=0, says="no space left on device")


@scenario
def late():
    s = Scenario("late", args=LOAD)
    s.sending(30)
    extra = s.agent(3)
    extra.wait(30)
    s.finish()
    return s, dict(code=0, lost=0, agents=[0, 0, 0, 1], says="a3 is refused", agent_says="too late")


@scenario
def wrong_token():
    s = Scenario("wrong_token", args=LOAD)
    s.env = dict(s.env, AIPERF_NATS_TOKEN="another")
    s.agents.append(s.start([AIPERF, "agent", "--join", f"nats://127.0.0.1:{s.port}", "--name", "a3", "--join-timeout",
                             "1"], os.path.join(s.dir, "a3.log")))
    s.finish()
    return s, dict(code=0, lost=0, agents=[0, 0, 0, 1], agent_says="refuses the token")


def outside(restart):
    program = shutil.which("nats-server")
    if not program:
        return None, "nats-server is not installed"
    port = free_port()
    home = os.path.join(DIR, "nats")
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)

    def serve():
        with open(os.path.join(home, "log"), "ab") as out:
            p = subprocess.Popen([program, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", home, "--auth", TOKEN],
                                 stdout=out, stderr=out, start_new_session=True)
        wait_for(lambda: not socket.socket().connect_ex(("127.0.0.1", port)))
        return p
    server = serve()
    try:
        s = Scenario("nats_restarted" if restart else "outside_nats", args=LOAD, nats=port)
        if restart:
            s.sending(90)
            server.kill()
            server.wait()
            time.sleep(1.5)
            server = serve()
        s.finish()
    finally:
        server.kill()
        server.wait()
    return s, dict(code=0, lost=0, agents=[0, 0, 0])


@scenario
def outside_nats():
    return outside(False)


@scenario
def nats_restarted():
    return outside(True)


def check(name):
    began = time.monotonic()
    s, want = SCENARIOS[name]()
    if s is None:
        print(f"| {name} | left out: {want} |")
        return []
    problems = []

    def claim(ok, text):
        if not ok:
            problems.append(text)
    try:
        code = s.coordinator.returncode
        claim(code == want["code"], f"the coordinator ended with {code}")
        if "agents" in want:
            codes = [p.returncode for p in s.agents]
            claim(codes == want["agents"], f"the agents ended with {codes}")
        claim(want.get("says", "") in s.text("coordinator"), f"the coordinator does not say {want.get('says')!r}")
        if said := want.get("agent_says"):
            claim(any(said in s.text(f"a{i}") for i in range(len(s.agents))), f"no agent says {said!r}")
        logged, journals = s.logged() - want.get("before", 0), s.journals()
        if want.get("none"):
            sent = sum(journals.values())
            claim(sent == logged, f"the journals count {sent} requests, the server logged {logged}")
            row(name, logged, sent, "-", "-", "-", 0, not problems, began)
            return [f"{name}: {p}" for p in problems]
        f = s.fleet()
        gone = [a for a in f["agents"] if "lost" in a]
        claim(len(gone) == want["lost"], f"{len(gone)} agents are lost")
        sent, recorded, lost = f["requests_sent"], f["records"], f["requests_lost"]
        claim(sent == recorded + f["requests_cut_off"] + lost, f"{f} does not add up")
        unknown = f["requests_unreported_at_most"]
        ids, records, cut = s.requests()
        known = set(ids)
        claim(len(known) == len(ids), "the server logged a request twice")
        claim(len(set(records)) == len(records) == recorded, f"{recorded} records, {len(set(records))} ids of such")
        claim(len(cut) == f["requests_cut_off"], f"{f['requests_cut_off']} cut off, {len(cut)} ids of such")
        claim(known.issuperset(records), "a request was recorded that the server did not log")
        claim(known.issuperset(i for i, answered in cut.items() if answered), "the server answered what it did not log")
        # Without a record: all that the server logged beyond that was lost.
        others = len(known.difference(records, cut)) - want.get("before", 0)
        if not gone or want.get("drained") or want.get("exact"):
            claim(lost == 0 and unknown == 0, f"{lost} are lost, {unknown} unknown")
            claim(others == 0, f"the server logged {others} requests that are neither recorded nor cut off")
        elif who := want.get("journal"):
            # A process that is killed may have counted a request that it had not written yet.
            claim(others <= lost <= others + 2 and unknown == 0, f"{lost} are lost, the server logged {others} of them")
            claim([a["name"] for a in f["agents"] if a["source"] == "journal"] == [who], "no journal was read")
        else:
            claim(lost <= others <= lost + unknown, f"{lost} are lost, {unknown} unknown, the server logged {others}")
            # With the journals of the lost agents the number is exact, but for what had not left yet.
            total = sum(journals[a["name"]] if a["source"] == "last report" else a["requests_sent"] for a in f["agents"])
            left = total - logged - len(cut.keys() - known)
            claim(0 <= left <= 2 * len(gone), f"{total} sent by the journals, the server logged {logged}")
        for a in f["agents"]:
            claim("differences" not in a, f"{a}")
            if a["source"] == "reports" and a["name"] in journals:
                claim(journals[a["name"]] == a["requests_sent"], f"{a}, its journal counts {journals[a['name']]}")
        row(name, logged, sent, recorded, f["requests_cut_off"], lost, unknown, not problems, began)
    finally:
        s.close()
    return [f"{name}: {p}" for p in problems]


def row(name, logged, sent, recorded, cut, lost, unknown, ok, began):
    print(f"| {name} | {logged} | {sent} | {recorded} | {cut} | {lost} | {unknown} | {'yes' if ok else 'NO'} | "
          f"{time.monotonic() - began:.0f} s |")


def main():
    failed = []
    print("| Fault | Server logged | Sent | Recorded | Cut off | Lost | Unknown, at most | Adds up | Time |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for name in ONLY or SCENARIOS:
        failed += check(name)
        sys.stdout.flush()
    for line in failed:
        print("FAILED", line)
    sys.exit(bool(failed))


main()
