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
    (cd ../deploy && logged "$cache/helm.log" go build -o "$cache/helm" helm.sh/helm/v3/cmd/helm)
    mkdir -p "$cache/image/usr/local/bin"
    cp -f "$cache/aiperf" "$cache/image/usr/local/bin/aiperf"
    rm -rf "$cache/cluster" && mkdir "$cache/cluster"
    KUBE_BIN=$cache HELM=$cache/helm AIPERF=$cache/aiperf CLUSTER=$cache/cluster IMAGES="-image aiperf:test=$cache/image=aiperf" \
        BACKOFF=2s bash up bash "$PWD/check.sh" inside
    exit
fi

. ./steps.sh

say "the chart by Helm: installed, upgraded, removed"
export HOME=$CLUSTER
chart() { # COMMAND [OPTION...]
    "$HELM" "$1" aiperf ../../deploy/helm -n helm-system --set nameOverride=aiperf-helm --set operator.image=aiperf:test \
        --set storage.enabled=false --wait --timeout 2m "${@:2}"
}
chart install --create-namespace --set benchmarkNamespace.create=true --set benchmarkNamespace.name=helm-bench >"$CLUSTER/helm.log"
grep -q -- '--image aiperf:test' "$CLUSTER/helm.log" || fail "the notes of the chart"
ports() { kubectl -n helm-system get service aiperf-helm -o 'jsonpath={.spec.ports[*].name}'; }
environment() { # NAME of a variable of the operator
    kubectl -n helm-system get deploy aiperf-helm \
        -o "jsonpath={.spec.template.spec.containers[0].env[?(@.name=='$1')].value}"
}
[ "$(ports)" = "results metrics" ] || fail "the ports of the chart: $(ports)"
[ -z "$(environment AIPERF_K8S_DEFAULT_IMAGE)" ] || fail "defaults.image has a value that nobody gave"
before=$(kubectl -n helm-system get pods -l app=aiperf-helm -o name)
chart upgrade --set dashboard.enabled=true --set defaults.image=aiperf:other --set defaults.imagePullPolicy=Never >/dev/null
[ "$(ports)" = "results metrics dashboard" ] || fail "the ports after an upgrade: $(ports)"
[ "$(environment AIPERF_K8S_DEFAULT_IMAGE) $(environment AIPERF_K8S_DEFAULT_IMAGE_PULL_POLICY)" = "aiperf:other Never" ] ||
    fail "defaults.image after an upgrade"
[ "$(kubectl -n helm-system get pods -l app=aiperf-helm -o name)" != "$before" ] || fail "the pod of the operator after an upgrade"
"$HELM" uninstall aiperf -n helm-system --wait --timeout 2m >/dev/null
kubectl get clusterrole aiperf-helm >/dev/null 2>&1 && fail "the role of the operator is left"
kubectl get crd aiperfjobs.aiperf.nvidia.com >/dev/null || fail "Helm has removed the definitions, and all jobs with them"

say "installing"
install

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

[[ $(status aiperfjob four serverMetrics.endpoints) == *mock* ]] || fail "the status has no server metrics"

say "a condition of --fail-if makes results a failure, and is named"
FAIL_IF='request_latency:p99>0.001ms' job slow 40
until_is 90 Failed status aiperfjob slow phase
[[ $(status aiperfjob slow error) == *request_latency:p99* ]] || fail "the condition is not named: $(status aiperfjob slow error)"
[ "$(reason slow ResultsAvailable)" = ResultsStored ] || fail "the results of a failure: $(reason slow ResultsAvailable)"

say "the results of a followed job are there when the following ends, and not before"
job followed 100 20
running followed
kube results followed -n bench --output "$CLUSTER/early" >"$CLUSTER/early.log" 2>&1 && fail "results before the end: $(ls "$CLUSTER/early")"
kube shutdown followed -n bench >"$CLUSTER/early.log" 2>&1 && fail "the controller was ended before its results were stored"
kube attach followed -n bench >"$CLUSTER/attach.log" || fail "kube attach: $(cat "$CLUSTER/attach.log")"
kube results followed -n bench --output "$CLUSTER/followed" >/dev/null || fail "kube results after kube attach"
[ -s "$CLUSTER/followed/profile_export_aiperf.json" ] || fail "the results after kube attach: $(ls "$CLUSTER/followed")"
kube shutdown followed -n bench >/dev/null || fail "kube shutdown of a job that is stored"

say "the commands of aiperf kube, and the routes of the results server"
kube list four -n bench | grep '^ *four .*Completed' >/dev/null || fail "kube list"
kube list -n bench --failed | grep '^ *slow ' >/dev/null || fail "kube list --failed"
kube results list-runs four -n bench | grep 'yes$' >/dev/null || fail "kube results list-runs"
kube results list-runs four -n bench --preview | grep 'WOULD DELETE' >/dev/null || fail "kube results list-runs --preview"
(cd "$CLUSTER" && kube results four -n bench >/dev/null) || fail "kube results"
cmp "$CLUSTER/artifacts/four/profile_export_aiperf.json" "$CLUSTER/four.json" || fail "other results by kube results"
grep 'forwarding ports of aiperf-system/' "$CLUSTER/kubelet.log" >/dev/null || fail "no port was forwarded"
touch "$CLUSTER/no-forward" # the proxy of the API server is left
kube results four -n bench --output "$CLUSTER/proxied" >/dev/null || fail "kube results where ports are not forwarded"
rm "$CLUSTER/no-forward"
cmp "$CLUSTER/proxied/profile_export_aiperf.json" "$CLUSTER/four.json" || fail "other results where ports are not forwarded"
kube preflight -n bench -e http://mock.bench.svc.cluster.local:8000 >"$CLUSTER/preflight.log" || fail "$(cat "$CLUSTER/preflight.log")"
"$AIPERF" kube dashboard --no-browser >"$CLUSTER/dashboard.log" 2>&1 &
dashboard=$!
until_is 30 'http://*' head -n 1 "$CLUSTER/dashboard.log"
page=$(head -n 1 "$CLUSTER/dashboard.log")
curl -fs "$page" | grep 'bench/four' >/dev/null || fail "the page of kube dashboard"
curl -fs "${page}api/v1/jobs/bench/four" | grep '"phase":"Completed"' >/dev/null || fail "a route by kube dashboard"
kill -TERM $dashboard
wait $dashboard || fail "kube dashboard ended with $?"
for route in jobs jobs/bench/four jobs/bench/four/events jobs/bench/four/logs jobs/bench/four/epochs sweeps results \
    results/bench/four results/bench/four.zip results/bench/four/runs results/bench/four/profile_export \
    analytics/leaderboard analytics/history 'analytics/compare?jobs=bench/four,bench/slow' analytics/scatter \
    analytics/summary/bench/four index cluster config/bench/four config/retention config/features; do
    api "/api/v1/$route" >"$CLUSTER/route" && [ -s "$CLUSTER/route" ] || fail "the route $route"
done
api /admin/index/stats | grep '"runs":' >/dev/null || fail "the route of the index"
for route in jobs/bench/none results/bench/none sweeps/bench/none; do
    [ "$(code_of "/api/v1/$route")" = 404 ] || fail "the route $route is no 404"
done
[ "$(code_of /api/v1/jobs/bench/four/cancel -X POST)" = 403 ] || fail "a change without a token"
curl -fs "http://$(operator_ip):9090/metrics" | grep '^aiperf_operator_leader 1' >/dev/null || fail "the figures for Prometheus"

say "a sweep that searches"
{
    printf 'apiVersion: aiperf.nvidia.com/v1alpha1\nkind: AIPerfSweep\nmetadata: {name: search, namespace: bench}\nspec:\n'
    benchmark 40
    cat <<'END'
  sweep:
    type: adaptive_search
    planner: smooth_isotonic
    search_space: [{path: concurrency, lo: 1, hi: 4, kind: int}]
    objectives: [{metric: request_throughput, direction: maximize}]
    sla_filters: [{metric_tag: time_to_first_token, stat: p95, op: lt, threshold: 60000}]
    max_iterations: 4
    sla_warmup_seconds: 0
END
} | kubectl apply -f - >/dev/null
until_is 400 Succeeded status aiperfsweep search phase
until_is 60 true status aiperfsweep search resultsAvailable
api /api/v1/sweeps/bench/search >"$CLUSTER/search.json"
python3 - "$CLUSTER/search.json" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
found, status = doc["search_summary"], doc["status"]
assert found["iteration_count"] == status["completedRuns"] >= 2, (found, status)
assert found["feasible_iteration_count"] == found["iteration_count"] and found["best_trials"], found
END

say "a sweep of two cells"
{
    printf 'apiVersion: aiperf.nvidia.com/v1alpha1\nkind: AIPerfSweep\nmetadata: {name: grid, namespace: bench}\nspec:\n'
    benchmark 40
    printf '  sweep: {type: grid, parameters: {phases.profiling.concurrency: [2, 4]}}\n'
} | kubectl apply -f - >/dev/null
kube attach grid -n bench >"$CLUSTER/attach.log" || fail "kube attach of a sweep: $(cat "$CLUSTER/attach.log")"
[ "$(status aiperfsweep grid phase) $(status aiperfsweep grid resultsAvailable)" = "Succeeded true" ] ||
    fail "kube attach has ended before the sweep was stored"
(cd "$CLUSTER" && kube results grid -n bench >/dev/null) || fail "kube results of a sweep"
[ -s "$CLUSTER/artifacts/grid/sweep_aggregate/profile_export_aiperf_sweep.csv" ] || fail "kube results of a sweep: $(ls "$CLUSTER/artifacts/grid")"
kube results list-runs grid -n bench | grep 'yes$' >/dev/null || fail "kube results list-runs of a sweep"
[ "$(status aiperfsweep grid completedRuns)" = 2 ] || fail "the runs of the sweep"
[ "$(k get aiperfjobs -l aiperf.nvidia.com/sweep=grid -o name | tr '\n' ' ')" = "aiperfjob.aiperf.nvidia.com/grid-v00 aiperfjob.aiperf.nvidia.com/grid-v01 " ] ||
    fail "the names of the children"
find "$CLUSTER/results/bench/sweeps/grid" -name 'aggregate.json*' | grep -q . || fail "aggregate.json is not stored"
find "$CLUSTER/results/bench/sweeps/grid" -path '*sweep_aggregate*' | grep -q . || fail "sweep_aggregate is not stored"

for route in children cells config epochs events logs; do
    api "/api/v1/sweeps/bench/grid/$route" >"$CLUSTER/route" && [ -s "$CLUSTER/route" ] || fail "the route of sweeps $route"
done

say "cancelled in the middle"
job cancelled 4000 50
running cancelled
measured() { [ -n "$(status aiperfjob cancelled liveMetrics.metrics.request_count.avg)" ] && echo yes || true; }
until_is 60 yes measured
k patch aiperfjob cancelled --type merge -p '{"spec":{"cancel":true}}' >/dev/null
phase cancelled Cancelled 30
stored cancelled live_metrics.json >"$CLUSTER/route" || fail "the metrics of a cancelled job: $(reason cancelled ResultsAvailable)"
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

say "the pod of a worker is evicted: the run goes on without it"
job loser 600 50
running loser
evict "$(k get pods -l aiperf.nvidia.com/job-id=loser,aiperf.nvidia.com/role=worker -o 'jsonpath={.items[0].metadata.name}')"
phase loser Failed 150
[[ $(status aiperfjob loser error) == *"1 of 2 agents were lost"* ]] || fail "the reason of a lost agent: $(status aiperfjob loser error)"
[ "$(reason loser ResultsAvailable)" = ResultsStored ] || fail "the results of a lost agent: $(reason loser ResultsAvailable)"
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
