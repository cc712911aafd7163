package deployed

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

// PreflightStatus is the outcome of a check.
type PreflightStatus string

// The outcomes.
const (
	Pass PreflightStatus = "pass"
	Warn PreflightStatus = "warn"
	Fail PreflightStatus = "fail"
	Skip PreflightStatus = "skip"
	Info PreflightStatus = "info"
)

// PreflightCheck is a check and its outcome.
type PreflightCheck struct {
	Name     string          `json:"name"`
	Status   PreflightStatus `json:"status"`
	Message  string          `json:"message"`
	Details  []string        `json:"details"`
	Hints    []string        `json:"hints"`
	Duration float64         `json:"duration_ms"`
}

// PreflightOptions is what the benchmark will need.
type PreflightOptions struct {
	Namespace    string
	Image        string
	PullSecrets  []string
	Secrets      []string
	Endpoint     string
	Workers      int
	NodeSelector map[string]string
	Tolerations  []client.Object
	// Quick runs the checks that aiperf kube profile makes: connectivity, permissions, the JobSet, the endpoint. Direct
	// reports that no operator is needed, JobSet that a JobSet is.
	Quick, Direct, JobSet bool
	// Job runs the checks that the operator makes before a job. Room that is missing now is no failure then: the pods
	// wait for it. NoResources reports that the pods ask for none.
	Job, NoResources bool
}

// PreflightResults are all checks of a run.
type PreflightResults struct {
	Passed      bool             `json:"passed"`
	HasWarnings bool             `json:"has_warnings"`
	Checks      []PreflightCheck `json:"checks"`
}

// checker is one run of the checks.
type checker struct {
	c *client.Client
	o PreflightOptions
}

// outcome is what a check found.
type outcome struct {
	status         PreflightStatus
	message        string
	details, hints []string
}

func found(s PreflightStatus, format string, args ...any) outcome {
	return outcome{status: s, message: fmt.Sprintf(format, args...)}
}

func (x outcome) hint(hints ...string) outcome { x.hints = append(x.hints, hints...); return x }
func (x outcome) detail(details ...string) outcome {
	x.details = append(x.details, details...)
	return x
}

// Preflight runs the checks in their order. A cluster that does not answer ends them.
func Preflight(ctx context.Context, c *client.Client, o PreflightOptions) *PreflightResults {
	k := &checker{c, o}
	type check struct {
		name string
		run  func(context.Context) outcome
		// quick and job report whether it is among the checks of [Options].Quick and of Job.
		quick, job bool
	}
	checks := []check{
		{"Cluster Connectivity", k.connectivity, true, true},
		{"Kubernetes Version", k.version, false, true},
		{"Namespace", k.namespace, false, false},
		{"RBAC Permissions", k.permissions, true, false},
		{"AIPerf Operator", k.operator, false, false},
		{"JobSet CRD", k.jobSet, o.JobSet, o.JobSet},
		{"JobSet Controller", k.jobSetController, false, o.JobSet},
		{"Resource Quotas", k.quotas, false, true},
		{"Node Resources", k.nodes, false, true},
		{"Secrets", k.secrets, false, false},
		{"Image Pull", k.image, false, false},
		{"Network Policies", k.policies, false, true},
		{"DNS Resolution", k.dns, false, true},
		{"Endpoint Connectivity", k.endpoint, o.Endpoint != "", false},
	}
	r := &PreflightResults{Passed: true, Checks: []PreflightCheck{}}
	for i, x := range checks {
		if o.Quick && !x.quick || o.Job && !x.job {
			continue
		}
		start := time.Now()
		out := x.run(ctx)
		r.Checks = append(r.Checks, PreflightCheck{Name: x.name, Status: out.status, Message: out.message,
			Details: slices.Concat([]string{}, out.details), Hints: slices.Concat([]string{}, out.hints),
			Duration: float64(time.Since(start).Microseconds()) / 1000})
		switch out.status {
		case Fail:
			r.Passed = false
			if i == 0 {
				return r
			}
		case Warn:
			r.HasWarnings = true
		}
	}
	return r
}

func (k *checker) connectivity(ctx context.Context) outcome {
	version, _, _, err := k.c.Version(ctx)
	if version == "" && err != nil {
		return found(Fail, "the API at %s does not answer: %v", k.c.Base(), err).
			hint("Check --kubeconfig and --kube-context, and that the cluster runs")
	}
	return found(Pass, "%s answers", k.c.Base())
}

// oldest is the oldest minor version of Kubernetes that has all that is used.
const oldest = 24

func (k *checker) version(ctx context.Context) outcome {
	git, major, minor, err := k.c.Version(ctx)
	switch {
	case err != nil:
		return found(Warn, "the version cannot be read: %v", err)
	case major < 1 || major == 1 && minor < oldest:
		return found(Fail, "Kubernetes %s is older than 1.%d", git, oldest).hint("Upgrade the cluster")
	}
	return found(Pass, "Kubernetes %s", git)
}

func (k *checker) namespace(ctx context.Context) outcome {
	_, err := k.c.Get(ctx, client.Namespaces, "", k.o.Namespace)
	switch {
	case client.IsNotFound(err):
		return found(Fail, "the namespace %s does not exist", k.o.Namespace).
			hint("kubectl create namespace " + k.o.Namespace)
	case client.IsForbidden(err):
		return found(Skip, "this account may not read namespaces")
	case err != nil:
		return found(Warn, "%v", err)
	}
	return found(Pass, "the namespace %s exists", k.o.Namespace)
}

// permission is what an account needs.
type permission struct {
	kind        client.Kind
	subresource string
	verbs       []string
}

func (k *checker) needed() []permission {
	read := []string{"get", "list"}
	if !k.o.Direct {
		return []permission{{JobKind, "", []string{"create", "get", "list", "patch", "delete"}},
			{client.Pods, "", read}, {client.Pods, "log", []string{"get"}}}
	}
	all := []string{"create", "get", "list", "patch", "delete"}
	engine := client.Jobs
	if k.o.JobSet {
		engine = client.JobSets
	}
	return []permission{{client.Roles, "", all}, {client.RoleBindings, "", all}, {client.ConfigMaps, "", all},
		{client.Secrets, "", all}, {client.Services, "", all}, {client.NetworkPolicies, "", all}, {engine, "", all},
		{client.Pods, "", read}, {client.Pods, "log", []string{"get"}},
		{client.Pods, "portforward", []string{"create"}}}
}

func (k *checker) permissions(ctx context.Context) outcome {
	var denied, unsure []string
	count := 0
	for _, p := range k.needed() {
		name := p.kind.Resource
		if p.subresource != "" {
			name += "/" + p.subresource
		}
		for _, verb := range p.verbs {
			count++
			ok, err := k.c.May(ctx, k.o.Namespace, verb, p.kind, p.subresource)
			switch {
			case err != nil:
				unsure = append(unsure, fmt.Sprintf("%s %s: %v", verb, name, err))
			case !ok:
				denied = append(denied, verb+" "+name)
			}
		}
	}
	switch {
	case len(denied) > 0:
		return found(Fail, "%d of %d permissions are missing in the namespace %s", len(denied), count, k.o.Namespace).
			detail(denied...).hint("Have an administrator grant them by a Role")
	case len(unsure) > 0:
		return found(Warn, "%d of %d permissions could not be checked", len(unsure), count).detail(unsure...)
	}
	return found(Pass, "all %d permissions are granted", count)
}

func (k *checker) operator(ctx context.Context) outcome {
	has, err := k.c.Has(ctx, JobKind)
	switch {
	case err != nil:
		return found(Warn, "the kinds of the cluster cannot be listed: %v", err)
	case !has:
		return found(Warn, "the kind AIPerfJob is not installed").
			hint("Install the chart of deploy/helm, or run without the operator: --no-operator")
	}
	pods, err := k.c.List(ctx, client.Pods, "", OperatorSelector)
	if err != nil {
		return found(Warn, "the pods of the operator cannot be listed: %v", err)
	}
	if len(pods) == 0 {
		return found(Warn, "no pod of the operator exists").hint("helm status aiperf-operator -n " +
			crd.OperatorNamespace)
	}
	for _, p := range pods {
		if Text(p, "status", "phase") == "Running" {
			return found(Pass, "the operator runs in %s", Text(p, "metadata", "namespace"))
		}
	}
	return found(Warn, "the pod of the operator is %s", Text(pods[0], "status", "phase")).
		hint("kubectl describe pod -n " + Text(pods[0], "metadata", "namespace") + " -l " +
			OperatorSelector)
}

func (k *checker) jobSet(ctx context.Context) outcome {
	has, err := k.c.Has(ctx, client.JobSets)
	switch {
	case err != nil:
		return found(Warn, "the kinds of the cluster cannot be listed: %v", err)
	case has:
		return found(Pass, "JobSet is installed")
	case k.o.JobSet:
		return found(Fail, "JobSet is not installed").hint("Install it, or give --engine jobs")
	}
	return found(Info, "JobSet is not installed; Kubernetes' own Jobs are used")
}

func (k *checker) jobSetController(ctx context.Context) outcome {
	if has, err := k.c.Has(ctx, client.JobSets); err != nil || !has {
		return found(Skip, "JobSet is not installed")
	}
	list, err := k.c.List(ctx, client.Deployments, "jobset-system", "")
	switch {
	case client.IsForbidden(err):
		return found(Skip, "this account may not read the namespace jobset-system")
	case err != nil:
		return found(Warn, "%v", err)
	case len(list) == 0:
		if k.o.JobSet {
			return found(Fail, "the namespace jobset-system has no controller")
		}
		return found(Warn, "the namespace jobset-system has no controller")
	}
	for _, d := range list {
		if n, _ := Number(d, "status", "readyReplicas"); n > 0 {
			return found(Pass, "the controller of JobSet is ready")
		}
	}
	return found(Warn, "the controller of JobSet is not ready")
}

// demand is what the pods of a benchmark ask for: millicores and bytes.
func (k *checker) demand() (cpu, memory, podCPU, podMemory int64) {
	const mebibyte = 1 << 20
	if k.o.NoResources {
		return 0, 0, 0, 0
	}
	podCPU, podMemory = 3350, 6144*mebibyte
	return 450 + podCPU*int64(k.o.Workers), 1792*mebibyte + podMemory*int64(k.o.Workers), podCPU, podMemory
}

func (k *checker) quotas(ctx context.Context) outcome {
	list, err := k.c.List(ctx, client.Quotas, k.o.Namespace, "")
	switch {
	case client.IsForbidden(err):
		return found(Skip, "this account may not read quotas")
	case err != nil:
		return found(Warn, "%v", err)
	case len(list) == 0:
		return found(Pass, "the namespace has no quotas")
	}
	cpu, memory, _, _ := k.demand()
	var details, over, never []string
	for _, q := range list {
		name := Text(q, "metadata", "name")
		hard, _ := Value(q, "status", "hard").(client.Object)
		used, _ := Value(q, "status", "used").(client.Object)
		for resource, limit := range hard {
			ask := map[string]int64{"cpu": cpu, "requests.cpu": cpu, "memory": memory * 1000,
				"requests.memory": memory * 1000, "pods": int64(k.o.Workers+1) * 1000}[resource]
			l, okLimit := Quantity(fmt.Sprint(limit))
			u, _ := Quantity(fmt.Sprint(used[resource]))
			line := fmt.Sprintf("%s: %s %v of %v used", name, resource, used[resource], limit)
			details = append(details, line)
			if okLimit && ask > 0 && u+ask > l {
				over = append(over, line)
			}
			if okLimit && ask > l {
				never = append(never, line)
			}
		}
	}
	slices.Sort(details)
	if k.o.Job && len(never) == 0 && len(over) > 0 {
		return found(Warn, "a quota leaves no room for all pods now").detail(over...)
	}
	if len(over) > 0 {
		return found(Fail, "the benchmark would exceed a quota").detail(over...).
			hint("Ask for fewer workers, or have the quota raised")
	}
	return found(Info, "the benchmark fits in the quotas").detail(details...)
}

// Quantity reads an amount of Kubernetes in thousandths, such as 500m, 2, 3Gi.
func Quantity(text string) (int64, bool) {
	units := []struct {
		suffix string
		factor float64
	}{{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40}, {"Pi", 1 << 50}, {"m", 1e-3}, {"k", 1e3},
		{"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"", 1}}
	for _, u := range units {
		number, is := strings.CutSuffix(text, u.suffix)
		if !is {
			continue
		}
		if v, err := strconv.ParseFloat(number, 64); err == nil {
			return int64(v * u.factor * 1000), true
		}
	}
	return 0, false
}

func (k *checker) nodes(ctx context.Context) outcome {
	list, err := k.c.List(ctx, client.Nodes, "", "")
	switch {
	case client.IsForbidden(err):
		return found(Skip, "this account may not read nodes")
	case err != nil:
		return found(Warn, "%v", err)
	case len(list) == 0 && k.o.Job:
		return found(Warn, "the cluster has no nodes: the pods wait for one")
	case len(list) == 0:
		return found(Fail, "the cluster has no nodes")
	}
	cpu, memory, podCPU, podMemory := k.demand()
	var sumCPU, sumMemory int64
	fits, usable := 0, 0
	for _, n := range list {
		if !k.allowed(n) {
			continue
		}
		usable++
		c, _ := Quantity(Text(n, "status", "allocatable", "cpu"))
		m, _ := Quantity(Text(n, "status", "allocatable", "memory"))
		sumCPU, sumMemory = sumCPU+c, sumMemory+m/1000
		if c >= podCPU && m/1000 >= podMemory {
			fits++
		}
	}
	need := fmt.Sprintf("%d worker pods of 3350m CPU and 6 GiB, and one controller pod, ask for %d m CPU and %d MiB",
		k.o.Workers, cpu, memory>>20)
	have := fmt.Sprintf("%d of %d nodes may be used; together they have %d m CPU and %d MiB", usable, len(list), sumCPU,
		sumMemory>>20)
	if k.o.Job && (usable == 0 || sumCPU < cpu || sumMemory < memory || fits == 0) {
		return found(Warn, "no nodes have room for all pods: they wait for some").detail(need, have)
	}
	switch {
	case usable == 0:
		return found(Fail, "no node may be used").detail(have).hint("Check --node-selector and --tolerations")
	case sumCPU < cpu || sumMemory < memory:
		return found(Fail, "the nodes have not enough CPU or memory").detail(need, have)
	case fits == 0:
		return found(Fail, "no node is large enough for a worker pod").detail(need, have)
	}
	free, known := k.free(ctx, list)
	if known && !slices.ContainsFunc(free, func(f [2]int64) bool { return f[0] >= podCPU && f[1] >= podMemory }) {
		return found(Warn, "no node has room for a worker pod now").detail(need, have)
	}
	return found(Pass, "%d nodes are large enough for a worker pod", fits).detail(need, have)
}

// free is what each usable node has left: millicores and bytes.
func (k *checker) free(ctx context.Context, nodes []client.Object) (free [][2]int64, known bool) {
	pods, err := k.c.List(ctx, client.Pods, "", "")
	if err != nil {
		return nil, false
	}
	for _, n := range nodes {
		if !k.allowed(n) {
			continue
		}
		c, _ := Quantity(Text(n, "status", "allocatable", "cpu"))
		m, _ := Quantity(Text(n, "status", "allocatable", "memory"))
		for _, p := range pods {
			phase := Text(p, "status", "phase")
			if Text(p, "spec", "nodeName") != Text(n, "metadata", "name") || phase == "Succeeded" ||
				phase == "Failed" {
				continue
			}
			for _, x := range Items(p, "spec", "containers") {
				pc, _ := Quantity(Text(x, "resources", "requests", "cpu"))
				pm, _ := Quantity(Text(x, "resources", "requests", "memory"))
				c, m = c-pc, m-pm
			}
		}
		free = append(free, [2]int64{c, m / 1000})
	}
	return free, true
}

// allowed reports whether pods may be placed on a node.
func (k *checker) allowed(n client.Object) bool {
	for key, value := range k.o.NodeSelector {
		if Text(n, "metadata", "labels", key) != value {
			return false
		}
	}
	if cordoned, _ := Value(n, "spec", "unschedulable").(bool); cordoned {
		return false
	}
	for _, taint := range Items(n, "spec", "taints") {
		effect, _ := taint["effect"].(string)
		if (effect == "NoSchedule" || effect == "NoExecute") && !slices.ContainsFunc(k.o.Tolerations,
			func(t client.Object) bool { return tolerates(t, taint) }) {
			return false
		}
	}
	return true
}

func tolerates(t, taint client.Object) bool {
	if e, ok := t["effect"].(string); ok && e != "" && e != taint["effect"] {
		return false
	}
	key, _ := t["key"].(string)
	if t["operator"] == "Exists" {
		return key == "" || key == taint["key"]
	}
	value, _ := t["value"].(string)
	want, _ := taint["value"].(string)
	return key == taint["key"] && value == want
}

func (k *checker) secrets(ctx context.Context) outcome {
	if len(k.o.Secrets) == 0 {
		return found(Skip, "no secrets were named")
	}
	return k.named(ctx, k.o.Secrets)
}

// named checks that secrets exist.
func (k *checker) named(ctx context.Context, names []string) outcome {
	var missing, unsure []string
	for _, name := range names {
		_, err := k.c.Get(ctx, client.Secrets, k.o.Namespace, name)
		switch {
		case client.IsNotFound(err):
			missing = append(missing, name)
		case err != nil:
			unsure = append(unsure, fmt.Sprintf("%s: %v", name, err))
		}
	}
	switch {
	case len(missing) > 0:
		return found(Fail, "secrets are missing in the namespace %s: %s", k.o.Namespace, strings.Join(missing, ", ")).
			hint("kubectl create secret generic NAME -n " + k.o.Namespace + " --from-literal KEY=VALUE")
	case len(unsure) > 0:
		return found(Warn, "secrets could not be checked").detail(unsure...)
	}
	return found(Pass, "all secrets exist: %s", strings.Join(names, ", "))
}

// publicRegistries need no secret for public images.
var publicRegistries = []string{"docker.io", "ghcr.io", "quay.io", "registry.k8s.io", "public.ecr.aws", "mcr.microsoft.com"}

func (k *checker) image(ctx context.Context) outcome {
	if k.o.Image == "" {
		return found(Skip, "no image was named")
	}
	if len(k.o.PullSecrets) > 0 {
		if out := k.named(ctx, k.o.PullSecrets); out.status != Pass {
			return out
		}
		return found(Pass, "%s is pulled with %s", k.o.Image, strings.Join(k.o.PullSecrets, ", "))
	}
	registry, rest, ok := strings.Cut(k.o.Image, "/")
	if !ok || rest == "" || !strings.ContainsAny(registry, ".:") {
		registry = "docker.io"
	}
	if slices.Contains(publicRegistries, registry) {
		return found(Info, "%s is a public registry; a private image needs --image-pull-secret", registry)
	}
	return found(Warn, "%s may need a secret to pull %s", registry, k.o.Image).
		hint("Give --image-pull-secret NAME where it does")
}

func (k *checker) policies(ctx context.Context) outcome {
	list, err := k.c.List(ctx, client.NetworkPolicies, k.o.Namespace, "")
	switch {
	case client.IsForbidden(err):
		return found(Skip, "this account may not read network policies")
	case err != nil:
		return found(Warn, "%v", err)
	}
	var names []string
	for _, p := range list {
		if Text(p, "metadata", "labels", crd.LabelApp) != crd.AppName {
			names = append(names, Text(p, "metadata", "name"))
		}
	}
	if len(names) > 0 {
		return found(Warn, "the namespace has network policies: %s", strings.Join(names, ", ")).
			hint("Agents must reach port 4222 of the controller pod, and all pods the server under test")
	}
	return found(Pass, "the namespace has no network policies")
}

func (k *checker) dns(ctx context.Context) outcome {
	pods, err := k.c.List(ctx, client.Pods, "kube-system", "k8s-app=kube-dns")
	switch {
	case client.IsForbidden(err):
		return found(Skip, "this account may not read the namespace kube-system")
	case err != nil:
		return found(Warn, "%v", err)
	}
	for _, p := range pods {
		if Text(p, "status", "phase") == "Running" {
			return found(Pass, "the DNS server of the cluster runs")
		}
	}
	return found(Warn, "no pod of CoreDNS runs in kube-system").
		hint("Agents find the controller by its name, NAME.NAMESPACE.svc.cluster.local")
}

func (k *checker) endpoint(ctx context.Context) outcome {
	if k.o.Endpoint == "" {
		return found(Skip, "no endpoint was named")
	}
	address := k.o.Endpoint
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return found(Fail, "%q is not a URL", k.o.Endpoint)
	}
	service, namespace, inside := serviceOf(u.Hostname(), k.o.Namespace)
	if !inside {
		return found(Info, "%s is outside of the cluster; the pods will ask it", u.Hostname())
	}
	_, err = k.c.Get(ctx, client.Services, namespace, service)
	switch {
	case client.IsNotFound(err):
		return found(Fail, "there is no service %s in the namespace %s", service, namespace).
			hint("kubectl get services -n " + namespace)
	case err != nil:
		return found(Warn, "the service %s/%s could not be checked: %v", namespace, service, err)
	}
	return found(Pass, "the service %s exists in the namespace %s", service, namespace)
}

// serviceOf finds the service that a host name is in the cluster: NAME, NAME.NAMESPACE or NAME.NAMESPACE.svc…. A single
// word other than localhost is a service of the namespace itself.
func serviceOf(host, own string) (service, namespace string, inside bool) {
	parts := strings.Split(host, ".")
	switch {
	case host == "localhost":
		return "", "", false
	case len(parts) == 1:
		return host, own, true
	case len(parts) >= 3 && parts[2] == "svc":
		return parts[0], parts[1], true
	}
	return "", "", false
}
