# Sourced by the checks in a cluster of up: what they do in common. Jobs live in the namespace bench.

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
    ${FAIL_IF:+failIf: ["$FAIL_IF"]}
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
operator_ip() { kubectl -n aiperf-system get pods -l app=aiperf-operator -o 'jsonpath={.items[0].status.podIP}'; }
api() { curl -fs "http://$(operator_ip):8081$1"; } # PATH on the results server
code_of() { curl -s -o "$CLUSTER/route" -w '%{http_code}' "${@:2}" "http://$(operator_ip):8081$1"; } # PATH [OPTION...]
stored() { api "/api/v1/results/bench/$1/$2"; } # JOB FILE
kube() { "$AIPERF" kube "$@"; }

evict() { # POD
    kubectl create --raw "/api/v1/namespaces/bench/pods/$1/eviction" -f - >/dev/null <<END
{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "$1", "namespace": "bench"}}
END
}

# install applies the Kustomize base and the mock server, and waits for both.
install() {
    mkdir -p "$CLUSTER/results" "$CLUSTER/install" && chmod 777 "$CLUSTER/results"
    cp -r ../../deploy/kustomize "$CLUSTER/install/base"
    cp install.yaml "$CLUSTER/install/kustomization.yaml"
    sed "s|RESULTS|$CLUSTER/results|" volume.yaml | kubectl apply -f - >/dev/null
    kubectl apply --server-side --force-conflicts -k "$CLUSTER/install" >/dev/null 2>"$CLUSTER/install.log"
    grep -i warning "$CLUSTER/install.log" && fail "the API server warns"
    kubectl create namespace bench >/dev/null
    kubectl label namespace bench pod-security.kubernetes.io/enforce=restricted >/dev/null
    kubectl apply -f mock.yaml >/dev/null
    kubectl -n aiperf-system rollout status deploy/aiperf-operator --timeout=60s >/dev/null
    k wait --for=condition=Ready pod/mock --timeout=60s >/dev/null
}
