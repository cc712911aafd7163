package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"aiperf/internal/base/webserver"
	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
	"aiperf/internal/cluster/kube/operator"
	"aiperf/internal/cluster/kube/resultsserver"
	"aiperf/internal/config/env"
	"aiperf/internal/config/flags"
)

const operatorHelp = `Usage: aiperf operator [options]

Runs AIPerfJobs and AIPerfSweeps in a Kubernetes cluster: starts their pods, follows them, reports in
their status, stores their results on a volume and serves them. It normally runs in the cluster, as
the charts below deploy/ install it; several replicas elect one that works. Ctrl-C ends it.

Options:
`

type operatorOptions struct {
	kubeconfig, context, namespace, watch, id, resultsDir, host, engine, pods string
	port, metricsPort                                                         int
	open, crds                                                                bool
}

func (o *operatorOptions) table() *flags.Table {
	return &flags.Table{Command: "operator", Page: "operator", Examples: []flags.Example{
		{For: "the definitions of its resources", Command: "aiperf operator --print-crds"},
		{For: "try it from this machine", Command: "aiperf operator --namespace bench --results-dir results"},
	},
		About: operatorHelp, Flags: []flags.Flag{
			flags.Value("kubeconfig", "FILE", "file with the cluster and the credentials [default: $KUBECONFIG, "+
				"~/.kube/config, or the account of the pod]", flags.Text(&o.kubeconfig)),
			flags.Value("kube-context", "NAME", "context of that file [default: its current one]", flags.Text(&o.context)),
			flags.Value("namespace -n", "NAME", "namespace of the operator itself, which holds its lease [default: that of "+
				"the pod, else aiperf-system]", flags.Text(&o.namespace)),
			flags.Value("watch-namespace", "NAME", "namespace whose jobs are run [default: all]", flags.Text(&o.watch)),
			flags.Value("id", "NAME", "claim the namespaces of the jobs for the operators of this name [default: "+
				"AIPERF_OPERATOR_ID]", flags.Text(&o.id)),
			flags.Value("results-dir", "DIR", "folder of the results [default: AIPERF_OPERATOR_RESULTS_DIR, else /data]",
				flags.Text(&o.resultsDir)),
			flags.Value("host", "ADDR", "address of the results server [default: 0.0.0.0]", flags.Text(&o.host)),
			flags.Value("port", "N", "port of the results server, 0 for any that is free [default: 8081]",
				command.Integer(&o.port, 0, 65535)),
			flags.Value("metrics-port", "N", "port of the operator's own figures for Prometheus, at /metrics; 0 for none "+
				"[default: AIPERF_OPERATOR_METRICS_PORT, else 9090]", command.Integer(&o.metricsPort, 0, 65535)),
			flags.Switch("open-results", "let everybody read who reaches the results server; else it asks for the token in the "+
				"secret "+crd.ResultsSecret+", which the operator makes if it is missing [default: "+
				"AIPERF_OPERATOR_RESULTS_OPEN]", &o.open),
			flags.Choice("engine", "NAME", "jobs or jobset: what runs the pods; auto is jobset where the cluster has it "+
				"[default: auto]", &o.engine, "auto", "jobs", "jobset"),
			flags.Choice("pod-access", "WAY", "direct or proxy, by way of the API server: how pods are reached "+
				"[default: direct in a pod, else proxy]", &o.pods, "direct", "proxy"),
			flags.Switch("print-crds", "print the definitions of AIPerfJob and AIPerfSweep for kubectl apply, and end", &o.crds),
		}}
}

// accountDir has the account of a pod.
const accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// podNamespace is the namespace of the pod that this is, "" outside of one.
func podNamespace() string {
	text, err := os.ReadFile(filepath.Join(accountDir, "namespace"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// cluster connects to a cluster.
func cluster(kubeconfig, kubeContext string) (*client.Client, dynamic.Interface, error) {
	c, err := client.Connect(client.Options{Kubeconfig: kubeconfig, Context: kubeContext})
	if err != nil {
		return nil, nil, err
	}
	config := rest.CopyConfig(c.Config)
	config.QPS, config.Burst = 50, 100
	config.UserAgent = "aiperf/" + command.Version
	config.WarningHandler = rest.NoWarnings{}
	d, err := dynamic.NewForConfig(config)
	return c, d, err
}

// operate runs the operator and its results server.
func operate(e *command.Env, args []string) error {
	o := operatorOptions{port: -1, metricsPort: -1, host: "0.0.0.0", engine: "auto"}
	rest, err := e.Parse(o.table(), args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("aiperf operator takes no argument: %q", rest[0])
	}
	if o.crds {
		if _, err := e.Terminal.Out.Write(crd.Documents(crd.Definitions()...)); err != nil {
			return err
		}
		return nil
	}
	values, warnings, err := env.Read(e.LookupEnv)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(e.Terminal.Err, nil))
	for _, w := range warnings {
		log.Warn(w.Text)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return runOperator(ctx, &o, &values, log)
}

func runOperator(ctx context.Context, o *operatorOptions, values *env.Values, log *slog.Logger) error {
	v := &values.Operator
	api, dynamicClient, err := cluster(o.kubeconfig, o.context)
	if err != nil {
		return err
	}
	own := podNamespace()
	if o.namespace == "" {
		o.namespace = own
	}
	if o.namespace == "" {
		o.namespace = crd.OperatorNamespace
	}
	if o.resultsDir == "" {
		o.resultsDir = v.ResultsDir
	}
	if o.port < 0 {
		o.port = v.ResultsPort
	}
	if o.metricsPort < 0 {
		o.metricsPort = v.MetricsPort
	}
	if o.id == "" {
		o.id = v.ID
	}
	store, err := operator.OpenArchive(o.resultsDir, operator.ArchiveOptions{
		Compress: v.Compress, RetainRuns: v.RetainRuns, RetainDays: v.RetainDays,
	})
	if err != nil {
		return fmt.Errorf("%w; name a folder with --results-dir", err)
	}
	defer func() { _ = store.Close() }()
	var pods operator.Pods = operator.Direct{}
	if o.pods == "proxy" || o.pods == "" && own == "" {
		if pods, err = operator.NewProxy(api.Config); err != nil {
			return err
		}
	}
	engine, err := engineOf(ctx, o.engine, api)
	if err != nil {
		return err
	}
	identity, err := os.Hostname()
	if err != nil {
		return err
	}
	if own == "" {
		identity += "-" + strconv.Itoa(os.Getpid())
	}
	token := ""
	if !o.open && !v.ResultsOpen {
		if token, err = operator.ResultsToken(ctx, dynamicClient, o.namespace); err != nil {
			return fmt.Errorf("%w; --open-results does without", err)
		}
	}
	op := operator.New(operator.Options{
		ResultsToken: token,
		Client:       dynamicClient, Pods: pods, Store: store, Prober: operator.Network{}, Engine: engine,
		Identity: identity, Namespace: o.namespace, Watch: o.watch, ID: o.id, Log: log, Settings: operatorSettings(v),
		Preflight: func(ctx context.Context, needs deployed.PreflightOptions) *deployed.PreflightResults {
			return deployed.Preflight(ctx, api, needs)
		},
	})
	if values.Cluster.Image == "" && own != "" {
		values.Cluster.Image = ownImage(ctx, api, own, identity)
	}
	results := resultsserver.New(resultsserver.Options{
		Store: store, Client: dynamicClient, API: api, Pods: pods, Ready: op.Ready,
		ClusterName: v.ClusterName, Mutating: v.MutatingRoutes, Token: v.Token, ReadToken: token, TTLDays: v.ResultsTTLDays, Log: log,
		Image: values.Cluster.Image, PullPolicy: values.Cluster.PullPolicy,
	})
	server, err := webserver.Listen(webserver.Options{
		Flag: "--port", Address: net.JoinHostPort(o.host, strconv.Itoa(o.port)), Handler: results.Handler(), Open: true,
	})
	if err != nil {
		return err
	}
	defer server.Close(2 * time.Second)
	log.Info("the results server listens", "address", server.URL("/"), "engine", string(engine), "results", o.resultsDir)
	if o.metricsPort > 0 {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", op.Metrics(command.Version))
		page, err := webserver.Listen(webserver.Options{Flag: "--metrics-port",
			Address: net.JoinHostPort(o.host, strconv.Itoa(o.metricsPort)), Handler: mux, Open: true})
		if err != nil {
			return err
		}
		defer page.Close(2 * time.Second)
	}
	return op.Run(ctx)
}

// ownImage is the image of the pod that this is, "" where it cannot be read: the host name of a pod is its name.
func ownImage(ctx context.Context, api *client.Client, namespace, pod string) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	o, err := api.Get(ctx, client.Pods, namespace, pod)
	if err != nil {
		return ""
	}
	for _, c := range deployed.Items(o, "spec", "containers") {
		if image, ok := c["image"].(string); ok {
			return image
		}
	}
	return ""
}

func operatorSettings(v *env.Operator) operator.Settings {
	s := operator.Defaults()
	s.JobTimeout, s.RestartThreshold, s.EndpointTimeout = v.JobTimeout, v.RestartThreshold, v.EndpointTimeout
	s.PreflightTimeout, s.ClaimTrust, s.NamespaceLease = v.PreflightTimeout, v.ClaimTrust, v.ClaimLease
	s.MonitorInterval, s.InitialDelay, s.ResultsRetries = v.MonitorInterval, v.InitialDelay, v.ResultsRetries
	s.ResultsRetryDelay, s.DownloadTimeout = v.ResultsRetryDelay, v.DownloadTimeout
	s.DownloadConcurrency, s.CleanupInterval = v.DownloadConcurrency, v.CleanupInterval
	s.ResultsTTLDays, s.BaseURL = v.ResultsTTLDays, v.BaseURL
	return s
}

// engineOf is what runs the pods: a JobSet where the cluster has it, unless another was asked for.
func engineOf(ctx context.Context, asked string, api *client.Client) (crd.Engine, error) {
	if asked == "jobs" {
		return crd.EngineJobs, nil
	}
	for {
		has, err := api.Has(ctx, client.JobSets)
		switch {
		case has:
			return crd.EngineJobSet, nil
		case err == nil && asked == "jobset":
			return "", errors.New("the cluster has no JobSet: install it, or use --engine jobs")
		case err == nil:
			return crd.EngineJobs, nil
		}
		select { // the API server may come up later than the operator
		case <-ctx.Done():
			return "", err
		case <-time.After(5 * time.Second):
		}
	}
}

func variable(e *command.Env, name string) string {
	value, _ := e.LookupEnv(name)
	return value
}

func runSidecar(ctx context.Context, e *command.Env, o *sidecarOptions, v *env.Operator, log *slog.Logger) error {
	options := resultsserver.SidecarOptions{
		Dir: o.dir, Address: net.JoinHostPort("0.0.0.0", strconv.Itoa(o.port)), Marker: o.marker,
		Stay: time.Duration(o.stay) * time.Second, Heartbeat: v.HeartbeatPause, Log: log,
	}
	if o.marker == "" {
		options.Alive = controllerAlive
		job, namespace := variable(e, "AIPERF_JOB_ID"), variable(e, "AIPERF_NAMESPACE")
		if variable(e, "AIPERF_OPERATOR_MANAGED") == "1" && job != "" && podNamespace() != "" {
			api, _, err := cluster("", "")
			if err != nil {
				return err
			}
			kind := client.Kind{Group: crd.Group, Version: crd.Version, Resource: crd.Jobs}
			options.Mark = func(ctx context.Context, annotations map[string]string) error {
				_, err := api.Merge(ctx, kind, namespace, job, crd.Object{"metadata": crd.Object{"annotations": annotations}})
				if client.IsNotFound(err) { // a run without an operator has no job to mark
					return nil
				}
				return err
			}
		}
	}
	return resultsserver.RunSidecar(ctx, options)
}

// controllerAlive asks the coordinator of the same pod.
func controllerAlive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"http://127.0.0.1:"+strconv.Itoa(crd.PortAPI)+"/healthz", nil)
	if err != nil {
		return false
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = reply.Body.Close()
	return reply.StatusCode == http.StatusOK
}

func runSweepController(ctx context.Context, e *command.Env, o *sidecarOptions, v *env.Operator,
	log *slog.Logger) error {
	_, d, err := cluster("", "")
	if err != nil {
		return err
	}
	return operator.RunSweep(ctx, operator.SweepOptions{
		Client: d, Name: variable(e, "AIPERF_SWEEP_NAME"), Namespace: variable(e, "AIPERF_SWEEP_NAMESPACE"),
		UID: variable(e, "AIPERF_SWEEP_UID"), Epoch: variable(e, "AIPERF_SWEEP_EPOCH"), Dir: o.dir,
		Results: resultsserver.NewReader(v.BaseURL, variable(e, crd.ResultsTokenVariable)), Version: command.Version, Log: log, BaseURL: v.BaseURL,
		ChildPoll: v.ChildPoll, CancelPoll: v.CancelPoll, CancelGrace: v.CancelGrace, ChildMissing: v.ChildMissing,
		StaleDeletion: v.StaleChildDeletion, SummaryRetries: v.SummaryRetries, SummaryRetryDelay: v.SummaryRetryDelay,
	})
}
