#!/usr/bin/env bash
# Jobs and sweeps on the real control plane of Kubernetes: four agents with the figures of a local run, a sweep, and what
# goes wrong in clusters: cancelled, deleted and evicted pods, an operator and an API server that end in the middle, no
# room, a wrong image, a wrong name, two operators, new definitions.
set -euo pipefail
shopt -s extglob
cd "$(dirname "$0")"
if [ "${1:-}" != inside ]; then
    . ../cache.sh kube
    debian kubectl kubernetes-client
    debian ip iproute2
    build
    logged "$cache/build.log" bash build "$cache"
    mkdir -p "$cache/image/usr/local/bin"
    cp -f "$cache/aiperf" "$cache/image/usr/local/bin/aiperf"
    rm -rf "$cache/cluster" && mkdir "$cache/cluster"
    KUBE_BIN=$cache AIPERF=$cache/aiperf CLUSTER=$cache/cluster IMAGES="-image aiperf:test=$cache/image=aiperf" \
        BACKOFF=2s bash up bash "$PWD/check.sh" inside
    exit
fi

k() { kubectl -n bench "$@"; }
say() { printf '%s  %s\n' "$(date +%T)" "$*"; }
fail() {
    say "FAILED: $*"
    k get aiperfjobs,aiperfsweeps,pods,jobs -o wide || true
    kubectl -n aiperf-system logs deploy/aiperf-operator --tail=30 || true
    exit 1
}
status() { k get "$1" "$2" -o "jsonpath={.status.$3}" 2>/dev/null || true; } # KIND NAME PATH
reason() { k get aiperfjob "$1" -o "jsonpath={.status.conditions[?(@.type==\"$2\")].reason}"; }
# until_is SECONDS WANTED COMMAND... waits until a command prints what is wanted, a pattern.
until_is() {
    local end=$((SECONDS + $1)) want=$2 got=
    shift 2
    while :; do
        got=$("$@")
        # shellcheck disable=SC2053 # a pattern
        [[ $got == $want ]] && return
        [[ $got != Failed || $want == *Failed* ]] && [ $SECONDS -lt $end ] || fail "$* is '$got', not '$want'"
        sleep 0.5
    done
}
phase() { until_is "${3:-90}" "$2" status aiperfjob "$1" phase; } # NAME WANTED [SECONDS]
benchmark() { # REQUESTS [RATE]
    local load="{name: profiling, type: concurrency, concurrency: 8, requests: $1}"
    [ $# = 1 ] || load="{name: profiling, type: constant, rate: $2, requests: $1}"
    cat <<END
  image: ${IMAGE:-aiperf:test}
  resourceMode: ${MODE:-none}
  randomSeed: 7
  benchmark:
    models: [m]
    endpoint: {urls: ["http://${HOST:-mock.bench.svc.cluster.local}:8000"], streaming: true}
    tokenizer: {name: builtin}
    datasets: [{name: main, type: synthetic, entries: 20, prompts: {isl: 50, osl: 10}}]
    phases: [$load]
    runtime: {workers: ${WORKERS:-2}, workersPerPod: 1}
END
}
job() { # NAME REQUESTS [RATE]
    {
        printf 'apiVersion: aiperf.nvidia.com/v1alpha1\nkind: AIPerfJob\nmetadata: {name: %s, namespace: bench}\nspec:\n' "$1"
        benchmark "${@:2}"
        [ -z "${EXTRA:-}" ] || printf '  %s\n' "$EXTRA"
    } | kubectl apply -f - >/dev/null
}
controller_pod() { k get pods -l "aiperf.nvidia.com/job-id=$1,aiperf.nvidia.com/role=controller" -o 'jsonpath={.items[0].metadata.name}'; }
running() { # NAME: requests are sent
    phase "$1" Running 60
}
pods_of() { k get pods -l "aiperf.nvidia.com/job-id=$1" -o name | wc -l; }
kill_part() { # NAME
    local pid
    pid=$(cat "$CLUSTER/$1.pid")
    kill -KILL "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
}
stored() { # JOB FILE
    curl -fs "http://$(kubectl -n aiperf-system get pods -l app=aiperf-operator -o 'jsonpath={.items[0].status.podIP}'):8081/api/v1/results/bench/$1/$2"
}

say "installing"
mkdir -p "$CLUSTER/results" "$CLUSTER/install" && chmod 777 "$CLUSTER/results"
cp -r ../../deploy/kustomize "$CLUSTER/install/base"
cp install.yaml "$CLUSTER/install/kustomization.yaml"
sed "s|RESULTS|$CLUSTER/results|" volume.yaml | kubectl apply -f - >/dev/null
kubectl apply --server-side -k "$CLUSTER/install" >/dev/null
kubectl create namespace bench >/dev/null
kubectl label namespace bench pod-security.kubernetes.io/enforce=restricted >/dev/null
kubectl apply -f mock.yaml >/dev/null
kubectl -n aiperf-system rollout status deploy/aiperf-operator --timeout=60s >/dev/null
k wait --for=condition=Ready pod/mock --timeout=60s >/dev/null

# These take longest, and go on beside the others.
IMAGE=nowhere.example/aiperf:1 job wrong-image 10
EXTRA='podTemplate: {nodeSelector: {disk: none}}' job no-such-node 10
MODE=guaranteed EXTRA='podTemplate: {extraPodSpec: {}}' WORKERS=9 job no-room 10

say "a job with four agents"
WORKERS=4 job four 200
phase four Completed
[ "$(status aiperfjob four summary.request_count.avg)" = 200 ] || fail "the requests of four agents"
stored four profile_export_aiperf.json >"$CLUSTER/four.json"
stored four inputs.json >"$CLUSTER/four-inputs.json"
stored four latest >/dev/null 2>&1 && fail "a file that does not exist was served"
mock=$(k get pod mock -o 'jsonpath={.status.podIP}')
"$AIPERF" profile -m m -u "http://$mock:8000" --streaming --tokenizer builtin --random-seed 7 --num-dataset-entries 20 \
    --isl 50 --osl 10 --concurrency 8 --request-count 200 --artifact-dir "$CLUSTER/local" --ui none >"$CLUSTER/local.log" 2>&1
python3 - "$CLUSTER" <<'END'
import json, sys
d = sys.argv[1]
read = lambda p: json.load(open(f"{d}/{p}"))
def prompts(doc): return sorted(json.dumps(t["payloads"], sort_keys=True) for t in doc["data"])
a, b = read("four.json"), read("local/profile_export_aiperf.json")
assert prompts(read("four-inputs.json")) == prompts(read("local/inputs.json")), "other prompts than a local run"
for tag in ("request_count", "input_sequence_length", "output_sequence_length", "total_isl", "total_osl"):
    if tag in a or tag in b:
        for stat in ("avg", "min", "max", "p50", "p99"):
            assert a[tag].get(stat) == b[tag].get(stat), (tag, stat, a[tag], b[tag])
print("          prompts, counts and lengths equal those of a local run")
END
code=$(k get aiperfjob four -o 'jsonpath={.status.completionTime}')
k patch aiperfjob four --type merge -p '{"spec":{"cancel":true}}' >/dev/null
sleep 5
[ "$(status aiperfjob four phase) $(status aiperfjob four completionTime)" = "Completed $code" ] || fail "a cancel changed a terminal job"

say "a sweep of two cells"
{
    printf 'apiVersion: aiperf.nvidia.com/v1alpha1\nkind: AIPerfSweep\nmetadata: {name: grid, namespace: bench}\nspec:\n'
    benchmark 40
    printf '  sweep: {type: grid, parameters: {phases.profiling.concurrency: [2, 4]}}\n'
} | kubectl apply -f - >/dev/null
until_is 150 Succeeded status aiperfsweep grid phase
until_is 60 true status aiperfsweep grid resultsAvailable
[ "$(status aiperfsweep grid completedRuns)" = 2 ] || fail "the runs of the sweep"
[ "$(k get aiperfjobs -l aiperf.nvidia.com/sweep=grid -o name | tr '\n' ' ')" = "aiperfjob.aiperf.nvidia.com/grid-v00 aiperfjob.aiperf.nvidia.com/grid-v01 " ] ||
    fail "the names of the children"
find "$CLUSTER/results/bench/sweeps/grid" -name 'aggregate.json*' | grep -q . || fail "aggregate.json is not stored"
find "$CLUSTER/results/bench/sweeps/grid" -path '*sweep_aggregate*' | grep -q . || fail "sweep_aggregate is not stored"

say "cancelled in the middle"
job cancelled 4000 50
running cancelled
k patch aiperfjob cancelled --type merge -p '{"spec":{"cancel":true}}' >/dev/null
phase cancelled Cancelled 30
until_is 60 0 pods_of cancelled

say "deleted in the middle"
job deleted 4000 50
running deleted
k delete aiperfjob deleted --timeout=60s >/dev/null
until_is 60 0 pods_of deleted
ls "$CLUSTER/results/bench/deleted/"*/job_spec.json* >/dev/null || fail "what was stored is gone"

say "the operator ends in the middle"
job orphan 400 50
running orphan
kubectl -n aiperf-system delete pod -l app=aiperf-operator --grace-period=0 --force >/dev/null 2>&1
phase orphan Completed 90
[ "$(status aiperfjob orphan summary.request_count.avg)" = 400 ] || fail "the requests after an operator has ended"

say "the API server ends in the middle"
job outage 600 50
running outage
kill_part apiserver
sleep 4
sh "$CLUSTER/apiserver.sh" &
echo $! >"$CLUSTER/apiserver.pid"
phase outage Completed 120
[ "$(status aiperfjob outage summary.request_count.avg)" = 600 ] || fail "the requests over an outage"

evict() { # POD
    kubectl create --raw "/api/v1/namespaces/bench/pods/$1/eviction" -f - >/dev/null <<END
{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "$1", "namespace": "bench"}}
END
}

say "the pod of a worker is evicted: the run goes on without it"
job loser 600 50
running loser
evict "$(k get pods -l aiperf.nvidia.com/job-id=loser,aiperf.nvidia.com/role=worker -o 'jsonpath={.items[0].metadata.name}')"
phase loser Completed 150
sent=$(status aiperfjob loser summary.request_count.avg)
[ "$sent" -lt 600 ] || fail "no request of a lost agent is missing"
stored loser fleet.json >"$CLUSTER/loser.json"
grep -q '"lost"' "$CLUSTER/loser.json" || fail "fleet.json does not name what is lost"
say "  $sent of 600 requests were recorded"

say "the pod of the controller is evicted"
job evicted 4000 50
running evicted
evict "$(controller_pod evicted)"
phase evicted Failed 90
[[ $(reason evicted ResultsAvailable) == Partial* ]] || fail "nothing of an evicted run was recovered: $(reason evicted ResultsAvailable)"

say "two operators: one takes over"
kubectl -n aiperf-system scale deploy/aiperf-operator --replicas=2 >/dev/null
kubectl -n aiperf-system rollout status deploy/aiperf-operator --timeout=60s >/dev/null
leader() { kubectl -n aiperf-system get lease aiperf-operator-leader -o 'jsonpath={.spec.holderIdentity}'; }
until_is 60 'aiperf-operator-*' leader
first=$(leader)
job twice 300 50
running twice
kubectl -n aiperf-system delete pod "$first" --grace-period=0 --force >/dev/null 2>&1
other() { [ "$(leader)" != "$first" ] && leader || true; }
until_is 60 'aiperf-operator-*' other
phase twice Completed 90
[ "$(k get events --field-selector involvedObject.name=twice,type=Warning -o name | wc -l)" = 0 ] || fail "warnings with two operators"

say "new definitions while a job runs"
job upgraded 300 50
running upgraded
"$AIPERF" operator --print-crds | kubectl annotate --local -f - check=upgrade -o yaml 2>/dev/null |
    kubectl apply --server-side --force-conflicts -f - >/dev/null
kubectl wait --for=condition=Established crd/aiperfjobs.aiperf.nvidia.com --timeout=30s >/dev/null
phase upgraded Completed 90

say "what the server must refuse, and names that do not exist"
EXTRA='sweep: {type: grid, parameters: {phases.profiling.concurrency: [1, 2]}}' job swept 10 2>/dev/null && fail "a job with a sweep was accepted"
EXTRA='multiRun: {numRuns: 3}' job thrice 10 2>/dev/null && fail "a job with several runs was accepted"
EXTRA='nonsense: true' job unknown-key 10 2>/dev/null && phase unknown-key '@(Completed|Failed)' 60
HOST=no-such-host.bench.svc.cluster.local job nowhere 10
phase nowhere Failed 60
[ "$(reason nowhere EndpointReachable)" = EndpointDNSResolutionFailed ] || fail "an unknown host: $(reason nowhere EndpointReachable)"

say "images that do not exist, nodes that do not suit, no room"
phase wrong-image Failed 120
phase no-such-node Failed 120
[ "$(reason no-room WorkersReady)" = SchedulingDelayed ] || fail "no room: $(reason no-room WorkersReady)"
[ "$(status aiperfjob no-room phase)" != Failed ] || fail "a job failed for lack of room"
until_is 60 0 pods_of wrong-image
say "all checks passed"
