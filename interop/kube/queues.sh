#!/usr/bin/env bash
# JobSet and Kueue themselves, built from their modules, with their admission webhooks, on the real control plane of
# Kubernetes: a job and a sweep by JobSets, cancelled, deleted and evicted pods, jobs that wait in a queue until there is
# room, with both engines.
set -euo pipefail
shopt -s extglob
cd "$(dirname "$0")"
if [ "${1:-}" != inside ]; then
    . ../cache.sh kube
    debian kubectl kubernetes-client
    debian ip iproute2
    build
    logged "$cache/build.log" bash build "$cache"
    program() { # NAME PACKAGE: the version of the module file in queues/NAME
        (cd "queues/$1" && logged "$cache/$1.log" env CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$cache/" "$2")
    }
    program jobset sigs.k8s.io/jobset
    program kueue sigs.k8s.io/kueue/cmd/kueue
    JOBSET=$(cd queues/jobset && go list -m -f '{{.Dir}}' sigs.k8s.io/jobset)
    KUEUE=$(cd queues/kueue && go list -m -f '{{.Dir}}' sigs.k8s.io/kueue)
    export JOBSET KUEUE
    mkdir -p "$cache/image/usr/local/bin"
    cp -f "$cache/aiperf" "$cache/image/usr/local/bin/aiperf"
    rm -rf "$cache/cluster" && mkdir "$cache/cluster"
    KUBE_BIN=$cache AIPERF=$cache/aiperf CLUSTER=$cache/cluster IMAGES="-image aiperf:test=$cache/image=aiperf" \
        NODES=node-1:8:32Gi,node-2:8:32Gi bash up bash "$PWD/queues.sh" inside
    exit
fi
. ./steps.sh

has() { kubectl get crd "$1" -o "jsonpath={.status.conditions[?(@.type=='Established')].status}" 2>/dev/null || true; }
established() { until_is 30 True has "$1"; }
# controller NAME PORT COMMAND... starts a controller as a process beside the API server; its webhooks listen at PORT.
controller() {
    "${@:3}" >"$CLUSTER/$1.log" 2>&1 &
    echo $! >"$CLUSTER/$1.pid"
    local end=$((SECONDS + 90))
    until (: </dev/tcp/127.0.0.1/"$2") 2>/dev/null; do
        kill -0 "$(cat "$CLUSTER/$1.pid")" 2>/dev/null && [ $SECONDS -lt $end ] || {
            tail -n 20 "$CLUSTER/$1.log"
            fail "$1 does not start"
        }
        sleep 0.5
    done
}
# webhooks NAME PORT FILE PATTERN registers those webhooks of a file whose names match, at a port of this machine.
webhooks() {
    kubectl create --dry-run=client -o json -f "$3" | python3 -c '
import base64, json, re, sys
name, port, pattern = sys.argv[1:4]
ca = base64.b64encode(open(sys.argv[4], "rb").read()).decode()
text, at, decoder = sys.stdin.read().strip(), 0, json.JSONDecoder()
items = []
while at < len(text):
    one, at = decoder.raw_decode(text, at)
    items += one["items"] if one["kind"] == "List" else [one]
    at += len(text[at:]) - len(text[at:].lstrip())
for one in items:
    one["metadata"]["name"] = name
    one["webhooks"] = [w for w in one["webhooks"] if re.fullmatch(pattern, w["name"])]
    assert one["webhooks"], one
    for w in one["webhooks"]:
        path = w["clientConfig"].pop("service")["path"]
        w["clientConfig"] |= {"url": f"https://127.0.0.1:{port}{path}", "caBundle": ca}
json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout)' "$1" "$2" "$4" "$serving/tls.crt" |
        kubectl apply -f - >/dev/null
}
serving=/tmp/k8s-webhook-server/serving-certs # where controllers look for their certificate
mkdir -p /tmp/k8s-webhook-server
mount -t tmpfs none /tmp/k8s-webhook-server
mkdir $serving
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=webhooks -addext subjectAltName=IP:127.0.0.1 \
    -keyout $serving/tls.key -out $serving/tls.crt 2>/dev/null

say "JobSet"
kubectl apply --server-side -f "$JOBSET/config/components/crd/bases" >/dev/null
established jobsets.jobset.x-k8s.io
cat >"$CLUSTER/jobset.yaml" <<'END'
apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
health: {healthProbeBindAddress: "127.0.0.1:8191"}
metrics: {bindAddress: "127.0.0.1:8192"}
webhook: {port: 9543}
END
controller jobset 9543 "$KUBE_BIN/jobset" -config "$CLUSTER/jobset.yaml"
webhooks jobset 9543 "$JOBSET/config/components/webhook/manifests.yaml" '.*'
install

say "a job with four agents"
WORKERS=4 job four 200
phase four Completed
[ "$(status aiperfjob four summary.request_count.avg)" = 200 ] || fail "the requests of four agents"
set_of() { k get jobset "aiperf-$1" -o "jsonpath={$2}" 2>/dev/null || true; } # JOB PATH
until_is 60 Completed set_of four .status.terminalState
[ -n "$(k get jobs -l jobset.sigs.k8s.io/jobset-name=aiperf-four -o name)" ] || fail "the JobSet has made no Jobs"

say "a sweep"
{
    printf 'apiVersion: aiperf.nvidia.com/v1alpha1\nkind: AIPerfSweep\nmetadata: {name: grid, namespace: bench}\nspec:\n'
    benchmark 40
    printf '  sweep: {type: grid, parameters: {phases.profiling.concurrency: [2, 4]}}\n'
} | kubectl apply -f - >/dev/null
until_is 200 Succeeded status aiperfsweep grid phase

say "cancelled, deleted, evicted in the middle"
job cancelled 4000 50
running cancelled
k patch aiperfjob cancelled --type merge -p '{"spec":{"cancel":true}}' >/dev/null
phase cancelled Cancelled 30
until_is 60 0 pods_of cancelled
job deleted 4000 50
running deleted
k delete aiperfjob deleted --timeout=60s >/dev/null
until_is 60 0 pods_of deleted
k get jobset aiperf-deleted 2>/dev/null && fail "the JobSet of a deleted job is left"
job loser 600 50
running loser
evict "$(k get pods -l aiperf.nvidia.com/job-id=loser,aiperf.nvidia.com/role=worker -o 'jsonpath={.items[0].metadata.name}')"
phase loser Failed 150
[[ $(status aiperfjob loser error) == *"1 of 2 agents were lost"* ]] || fail "the reason of a lost agent: $(status aiperfjob loser error)"

say "without the operator"
"$AIPERF" kube profile --no-operator --no-detach --engine jobset --image aiperf:test --name direct -n bench -m m \
    -u http://mock.bench.svc.cluster.local:8000 --streaming --tokenizer builtin --request-count 50 --concurrency 4 \
    --isl 20 --osl 5 --random-seed 1 >"$CLUSTER/direct.log" 2>&1 || fail "$(tail -n 20 "$CLUSTER/direct.log")"
kube results direct -n bench --output "$CLUSTER/direct" >/dev/null || fail "kube results without the operator"
grep -q '"request_count"' "$CLUSTER/direct/profile_export_aiperf.json" || fail "the results without the operator"
k get jobset aiperf-direct >/dev/null || fail "direct mode made no JobSet"

say "Kueue"
kubectl apply --server-side -f "$KUEUE/config/components/crd/bases" >/dev/null
established workloads.kueue.x-k8s.io
kubectl create namespace kueue-system >/dev/null
cat >"$CLUSTER/kueue.yaml" <<'END'
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
health: {healthProbeBindAddress: "127.0.0.1:8193"}
metrics: {bindAddress: "127.0.0.1:8194"}
webhook: {port: 9544}
integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset]}
END
# It looks for the certificate of its metrics below /etc, which is another one for it.
# shellcheck disable=SC2016 # for the shell that is started
controller kueue 9544 unshare --mount bash -c 'mount -t tmpfs none /mnt && mkdir /mnt/upper /mnt/work &&
    mount -t overlay none -o lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work /etc &&
    mkdir -p /etc/kueue/metrics && cp -r "$0" /etc/kueue/metrics/certs && exec "$@"' $serving "$KUBE_BIN/kueue" --config "$CLUSTER/kueue.yaml" --feature-gates VisibilityOnDemand=false
webhooks kueue 9544 "$KUEUE/config/components/webhook/manifests.yaml" \
    '.(job|jobset|workload|clusterqueue|cohort|resourceflavor)\.kb\.io'
# Room for one job at a time.
kubectl apply -f - >/dev/null <<'END'
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors: [{name: any, resources: [{name: cpu, nominalQuota: 8}, {name: memory, nominalQuota: 32Gi}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: users, namespace: bench}
spec: {clusterQueue: all}
END
admitted() { k get workloads -o 'jsonpath={range .items[*]}{.metadata.ownerReferences[0].name}{" "}{.status.conditions[?(@.type=="Admitted")].status}{"\n"}{end}'; }
for engine in jobset jobs; do
    say "two jobs in a queue with room for one, engine $engine"
    kubectl -n aiperf-system patch deploy aiperf-operator --type json -p \
        '[{"op": "replace", "path": "/spec/template/spec/containers/0/args", "value": ["operator", "--engine", "'"$engine"'"]}]' >/dev/null
    kubectl -n aiperf-system rollout status deploy/aiperf-operator --timeout=90s >/dev/null
    MODE=guaranteed EXTRA='scheduling: {queueName: users}' job "$engine-first" 300 50
    phase "$engine-first" Running 60
    MODE=guaranteed EXTRA='scheduling: {queueName: users}' job "$engine-second" 100 50
    phase "$engine-second" Queued 30
    phase "$engine-first" Completed 90
    phase "$engine-second" Completed 90
    for name in first second; do
        [ "$(k get workloads -o name | grep -c "aiperf-$engine-$name")" -gt 0 ] || fail "no workload of $engine-$name: $(admitted)"
    done
    [ "$(status aiperfjob "$engine-second" summary.request_count.avg)" = 100 ] || fail "the requests of the second job"
    k delete aiperfjob "$engine-first" "$engine-second" --timeout=60s >/dev/null
done
say "all checks passed"
