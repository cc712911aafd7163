#!/usr/bin/env bash
# The Helm chart under Helm's own linter and engine, with its defaults and with everything turned on, and the Kustomize
# base, which holds the same objects: bash check.sh. With -update the base is written anew.
set -euo pipefail
cd "$(dirname "$0")"
base=../../deploy/kustomize/operator.yaml
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
cat >"$made/all.yaml" <<'END'
benchmarkNamespace: {create: true}
ingress: {enabled: true, className: nginx}
dashboard: {enabled: true}
kueue: {defaultQueueName: q, defaultPriorityClass: p}
serverMetricsDiscoveryNamespaces: [llm]
networkPolicy: {allowedNamespaces: [aiperf-benchmarks]}
resultsServer: {mutatingRoutes: {enabled: true, tokenSecret: t}}
operator: {replicas: 2, imagePullSecrets: [{name: s}], nodeSelector: {a: b}, extraEnv: {A: "1"}}
storage: {accessMode: ReadWriteMany, storageClassName: fast}
END
go run . ../../deploy/helm "$made/all.yaml" >"$made/everything.yaml"
go run . ../../deploy/helm >"$made/default.yaml"
{
    echo '# Made of the Helm chart with its defaults: interop/deploy/check.sh -update writes it anew.'
    sed '/app.kubernetes.io\/managed-by: Helm/d; /helm.sh\/resource-policy/d' "$made/default.yaml"
} >"$made/operator.yaml"
if [ "${1:-}" = -update ]; then
    cp "$made/operator.yaml" "$base"
fi
diff "$base" "$made/operator.yaml" || { echo "deploy/kustomize is stale: bash interop/deploy/check.sh -update" >&2; exit 1; }
echo "the chart renders $(grep -c '^kind:' "$made/default.yaml") objects, with everything $(grep -c '^kind:' "$made/everything.yaml"); the Kustomize base has the same"
