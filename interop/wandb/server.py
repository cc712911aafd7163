"""A server with the parts of the API of Weights & Biases that uploads and readers use: runs, their history, summary and
files, and artifacts, all in memory. It was written from the requests that the client wandb 0.31.0 makes.

    server.py LOG [busy=N]

It prints its address, and appends each request to LOG as a line of JSON. With busy, the first N requests of each kind are
answered 429 with Retry-After: 1.
"""

import base64
import collections
import gzip
import hashlib
import http.server
import itertools
import json
import re
import sys
import threading
import urllib.parse

log = open(sys.argv[1], "a")
options = dict(a.split("=", 1) for a in sys.argv[2:])
lock = threading.RLock()
numbers = itertools.count(1)
runs, artifacts, manifests, stored, refused = {}, {}, {}, {}, collections.Counter()
base = ""
times = "2026-11-24T00:00:00Z"  # of everything


def new(kind):
    return f"{kind}{next(numbers)}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        path = urllib.parse.unquote(self.path)
        entry = {"method": self.command, "path": path, "credentials": "Authorization" in self.headers,
                 "size": len(body), "headers": {k.lower(): v for k, v in self.headers.items()}}
        if not path.startswith("/store/") or path.startswith("/store/manifest/"):
            try:
                entry["body"] = json.loads(body)
            except ValueError:
                entry["body"] = None
        status, headers, answer = 200, {}, {}
        with lock:
            try:
                kind = self.command + " " + operation(entry)
                if refused[kind] < int(options.get("busy", 0)) and not kind.startswith("GET"):
                    refused[kind] += 1
                    status, headers = 429, {"Retry-After": "1"}
                elif path == "/graphql":
                    answer = {"data": graphql(operation(entry), entry["body"]["query"], entry["body"].get("variables") or {})}
                elif path.startswith("/store/"):
                    status, headers, answer = store(self.command, path.removeprefix("/store/"), body)
                elif path.endswith("/file_stream"):
                    stream(path.split("/")[4], entry["body"])
                elif not path.startswith("/otel"):
                    raise KeyError(path)
            except Exception as e:
                status, answer = 400, {"errors": [{"message": f"the server of the check: {type(e).__name__} {e}"}]}
                entry["fault"] = answer["errors"][0]["message"]
            entry["status"] = status
            log.write(json.dumps(entry) + "\n")
            log.flush()
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = serve


def operation(entry):
    """The name of a request: that of its GraphQL operation, or the kind of its path."""
    if entry["path"] == "/graphql":
        return re.search(r"(?:query|mutation)\s+(\w+)", entry["body"]["query"])[1]
    return "/" + entry["path"].strip("/").split("/")[-1 if entry["path"].endswith("/file_stream") else 0]


def store(method, key, body):
    if method == "PUT":
        stored[key] = body
        return 200, {}, b""
    return (200, {"Content-Type": "application/octet-stream"}, stored[key]) if key in stored else (404, {}, {})


def stream(name, body):
    run = runs[name]
    for file, lines in (body.get("files") or {}).items():
        if file == "wandb-summary.json":
            run["summary"] = lines["content"][-1]
        if file == "wandb-history.jsonl":
            run["history"][lines["offset"]:] = lines["content"]
    if body.get("complete"):
        run["state"] = "finished" if body["exitcode"] == 0 else "failed"


def place(key, name):
    return {"id": new("file"), "name": name, "displayName": name, "uploadUrl": f"{base}/store/{urllib.parse.quote(key)}",
            "uploadHeaders": ["X-Store: yes"] if key.startswith("md5/") else []}


def md5(data):
    return hashlib.md5(data).hexdigest()


def hexadecimal(digest):
    return base64.b64decode(digest).hex()


def graphql(name, query, v):
    answer = globals().get("answer_" + name)
    if answer is None:
        raise KeyError(f"{name}: {query} {json.dumps(v)}")
    return answer(v)


def answer_UpsertBucket(v):
    run = runs.setdefault(v["name"], {
        "id": new("run"), "name": v["name"], "config": "{}", "summary": "{}", "history": [], "files": [], "tags": [],
        "displayName": v["name"], "project": v["project"], "entity": v.get("entity") or "me", "state": "running",
        "artifacts": [], "seen": False})
    for key in ("config", "displayName", "tags"):
        if v.get(key) is not None:
            run[key] = v[key]
    if v.get("summaryMetrics"):
        run["summary"] = v["summaryMetrics"]
    inserted, run["seen"] = not run["seen"], True
    return {"upsertBucket": {"inserted": inserted, "bucket": {
        "id": run["id"], "name": run["name"], "displayName": run["displayName"], "description": None,
        "config": run["config"], "sweepName": None, "historyLineCount": len(run["history"]),
        "project": {"id": "p1", "name": run["project"], "entity": {"id": "e1", "name": run["entity"]}}}}}


def answer_CreateRunFiles(v):
    run = runs[v["run"]]
    run["files"] += [f for f in v["files"] if f not in run["files"]]
    return {"createRunFiles": {"runID": run["id"], "uploadHeaders": [],
                               "files": [place(f"run/{v['run']}/{f}", f) for f in v["files"]]}}


def answer_CreateArtifact(v):
    v = v["input"]
    artifact = {"id": new("artifact"), "name": v["artifactCollectionName"], "type": v["artifactTypeName"], "state": "PENDING",
                "digest": v["digest"], "run": v["runName"], "entity": v["entityName"], "project": v["projectName"],
                "client": v["clientID"], "manifest": None, "aliases": v["aliases"]}
    artifacts[artifact["id"]] = artifact
    runs[v["runName"]]["artifacts"].append(artifact["id"])
    return {"createArtifact": {"artifact": {"id": artifact["id"], "state": "PENDING",
                                            "artifactSequence": {"id": "s1", "latestArtifact": None}}}}


def answer_CreateArtifactManifest(v):
    manifest = new("manifest")
    manifests[manifest] = {"artifact": v["artifactID"], "digest": v["digest"]}
    file = place("manifest/" + manifest, v["name"]) if v["includeUpload"] else {"id": new("file")}
    if v["includeUpload"]:
        artifacts[v["artifactID"]]["manifest"] = manifest
    return {"createArtifactManifest": {"artifactManifest": {"id": manifest, "file": file}}}


def answer_CreateArtifactFiles(v):
    edges = []
    for f in v["input"]["artifactFiles"]:
        key = "md5/" + hexadecimal(f["md5"])
        node = {**place(key, f["name"]), "storagePath": "wandb_artifacts/" + key, "artifact": {"id": f["artifactID"]},
                "uploadMultipartUrls": None}
        edges.append({"node": node})
    return {"createArtifactFiles": {"files": {"edges": edges}}}


def answer_CommitArtifact(v):
    artifact = artifacts[v["artifactID"]]
    manifest = stored["manifest/" + artifact["manifest"]]
    for name, entry in json.loads(manifest)["contents"].items():
        data = stored["md5/" + hexadecimal(entry["digest"])]
        if md5(data) != hexadecimal(entry["digest"]) or len(data) != entry["size"]:
            raise ValueError(f"{name} is not what the manifest says")
    artifact["state"] = "COMMITTED"
    return {"commitArtifact": {"artifact": {"id": artifact["id"], "digest": artifact["digest"]}}}


def answer_Viewer(_):
    return {"viewer": {"id": "u1", "entity": "me", "username": "me", "email": "", "flags": "{}", "teams": {"edges": []}}}


def answer_GetDefaultEntity(_):
    return answer_Viewer(_)


def answer_ServerFeaturesQuery(_):
    return {"serverInfo": {"features": []}}


def answer_ArtifactType(v):
    return {"project": {"artifact": None}}


def page(nodes):
    return {"edges": [{"node": n, "cursor": str(i)} for i, n in enumerate(nodes)], "totalCount": len(nodes),
            "pageInfo": {"endCursor": str(len(nodes)), "hasNextPage": False}}


def run_node(run):
    return {"id": run["id"], "tags": run["tags"], "name": run["name"], "displayName": run["displayName"], "sweepName": None,
            "state": run["state"], "config": run["config"], "group": None, "jobType": None, "commit": None,
            "readOnly": False, "createdAt": times, "heartbeatAt": times, "description": None, "notes": None,
            "systemMetrics": "{}", "summaryMetrics": run["summary"], "historyLineCount": len(run["history"]),
            "user": {"name": "me", "username": "me"}, "projectId": "1", "fileCount": len(run["files"]),
            "historyKeys": {"lastStep": len(run["history"]) - 1, "keys": {}}}


def answer_Run(v):
    return {"project": {"run": run_node(runs[v["name"]])}}


def answer_RunHistoryKeys(v):
    keys = {}
    for line in runs[v["name"]]["history"]:
        for key in json.loads(line):
            keys[key] = {"typeCounts": [{"type": "number"}]}
    return {"project": {"run": {"historyKeys": {"lastStep": len(runs[v["name"]]["history"]) - 1, "keys": keys, "sets": []}}}}


def answer_RunParquetHistory(v):
    return {"project": {"run": {"parquetHistory": {"parquetUrls": [],
                                                   "liveData": [json.loads(x) for x in runs[v["runName"]]["history"]]}}}}


def answer_HistoryPage(v):
    return {"project": {"run": {"history": runs[v["run"]]["history"][v["minStep"]:v["maxStep"]]}}}


def answer_RunFullHistory(v):
    return {"project": {"run": {"history": runs[v["name"]]["history"]}}}


def answer_RunFiles(v):
    run = runs[v["name"]]
    nodes = []
    for name in run["files"]:
        key = f"run/{v['name']}/{name}"
        if key in stored and (not v["fileNames"] or name in v["fileNames"]):
            url = f"{base}/store/{urllib.parse.quote(key)}"
            nodes.append({"id": key, "name": name, "url": url, "directUrl": url, "sizeBytes": len(stored[key]),
                          "mimetype": "text/plain", "updatedAt": times, "md5": None})
    return {"project": {"internalId": "1", "run": {"fileCount": len(nodes), "files": page(nodes)}}}


def project(artifact):
    return {"id": "p1", "internalId": "1", "name": artifact["project"], "entity": {"name": artifact["entity"]}}


def artifact_node(artifact):
    collection = {"__typename": "ArtifactSequence", "id": "s1", "name": artifact["name"], "project": project(artifact)}
    contents = json.loads(stored["manifest/" + artifact["manifest"]])["contents"]
    return {"__typename": "Artifact", "id": artifact["id"], "artifactSequence": collection, "versionIndex": 0,
            "artifactType": {"name": artifact["type"]}, "description": None, "metadata": "{}", "ttlDurationSeconds": -2,
            "ttlIsInherited": False, "tags": [], "historyStep": None, "state": artifact["state"],
            "size": sum(e["size"] for e in contents.values()), "digest": artifact["digest"], "commitHash": "0" * 20,
            "fileCount": len(contents), "createdAt": times, "updatedAt": times,
            "currentManifest": {"file": {"directUrl": f"{base}/store/manifest/{artifact['manifest']}"}},
            "aliases": [{"__typename": "ArtifactAlias", "id": "a1", "alias": a["alias"], "artifactCollection": collection}
                        for a in artifact["aliases"]]}


def answer_RunOutputArtifacts(v):
    nodes = [artifact_node(artifacts[a]) for a in runs[v["run"]]["artifacts"] if artifacts[a]["state"] == "COMMITTED"]
    return {"project": {"run": {"artifacts": page(nodes)}}}


def answer_ArtifactMembershipByName(v):
    name = v["name"].split(":")[0]
    artifact = next((a for a in artifacts.values() if a["name"] == name and a["state"] == "COMMITTED"), None)
    if artifact is None:
        return {"project": {"artifactCollectionMembership": None}}
    node = artifact_node(artifact)
    return {"project": {"artifactCollectionMembership": {
        "__typename": "ArtifactCollectionMembership", "id": "m1", "versionIndex": 0, "createdAt": times,
        "aliases": node["aliases"], "artifactCollection": node["artifactSequence"], "artifact": node}}}


def answer_FetchArtifactManifest(v):
    return {"artifact": artifact_node(artifacts[v["id"]])}


def answer_GetArtifactMembershipFileUrls(v):
    artifact = next(a for a in artifacts.values() if a["name"] == v["collection"] and a["state"] == "COMMITTED")
    contents = json.loads(stored["manifest/" + artifact["manifest"]])["contents"]
    nodes = [{"__typename": "File", "name": name, "directUrl": f"{base}/store/md5/{hexadecimal(e['digest'])}"}
             for name, e in contents.items()]
    return {"project": {"artifactCollection": {"__typename": "ArtifactSequence",
                                               "artifactMembership": {"files": page(nodes)}}}}


def answer_Runs(v):
    nodes = [run_node(r) for r in runs.values() if r["project"] == v["project"]]
    return {"project": {"internalId": "1", "runCount": len(nodes), "readOnly": False, "runs": page(nodes)}}


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
base = f"http://127.0.0.1:{server.server_address[1]}"
print("listening on", base, flush=True)
server.serve_forever()
