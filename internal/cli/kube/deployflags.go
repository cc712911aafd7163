package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/config/flags"
)

// Deploy are the flags of the sub-commands that make a benchmark of a command line.
type Deploy struct {
	clusterFlags
	name, image, pullPolicy, queue, priority, account, engine string
	workers                                                   int
	ttl                                                       int
	noTTL                                                     bool
	nodeSelector, annotations, labels, env, secretEnv         map[string]string
	tolerations, secretMounts                                 []crd.Object
	pullSecrets                                               []string
	operator, direct, skipEndpoint, dryRun, noWait            bool
	Detach                                                    *bool // nil: unless there is a terminal
	attachPort                                                int
	// of sweeps
	trials, minRuns, maxRuns int
	cooldown                 float64
}

func (o *Deploy) deployment() []flags.Flag {
	o.ttl = -1
	engine := flags.Choice("engine", "ENGINE", "without the operator: jobs are Kubernetes' own, jobset needs JobSet "+
		"[default: jobset where the cluster has it, else jobs]", &o.engine, string(crd.EngineJobs),
		string(crd.EngineJobSet))
	return []flags.Flag{
		flags.Value("name", "NAME", "name of the benchmark: a DNS label of at most 40 characters [default: made up]",
			command.NonEmpty(&o.name)),
		flags.Value("image", "IMAGE", "image of aiperf [default: "+imageVariable+", else aiperf: with the version "+
			"of this program]", func(v string) error {
			if strings.TrimSpace(v) == "" {
				return errors.New("the value is blank")
			}
			o.image = v
			return nil
		}),
		flags.Value("image-pull-policy", "POLICY", "Always, IfNotPresent or Never, in any case", func(v string) error {
			for _, p := range crd.PullPolicies() {
				if strings.EqualFold(p, strings.ReplaceAll(strings.ReplaceAll(v, "-", ""), "_", "")) {
					o.pullPolicy = p
					return nil
				}
			}
			return fmt.Errorf("must be one of %s", strings.Join(crd.PullPolicies(), ", "))
		}),
		flags.Value("total-workers", "N", "workers of all pods, ten in each; more than ten must fill pods [default: "+
			"from the concurrency]", within(&o.workers, 1, 100_000)),
		flags.Value("ttl-seconds", "N", "seconds that finished pods stay, or none for ever [default: 300]",
			func(v string) error {
				if o.noTTL = strings.EqualFold(v, "none"); o.noTTL {
					return nil
				}
				return within(&o.ttl, 0, 1<<31-1)(v)
			}),
		flags.Value("node-selector", "K=V", "labels of the nodes; repeated, or as JSON", pairs(&o.nodeSelector)),
		flags.Value("tolerations", "JSON", "a toleration, or a list of them", objects(&o.tolerations)),
		flags.Value("queue-name", "NAME", "LocalQueue of Kueue", command.NonEmpty(&o.queue)),
		flags.Value("priority-class", "NAME", "WorkloadPriorityClass of Kueue", command.NonEmpty(&o.priority)),
		flags.Value("image-pull-secrets", "NAME,…", "secrets of the registry", flags.List(&o.pullSecrets)),
		flags.Value("env-vars", "K=V", "variables of the environment of all containers; repeated, or as JSON",
			pairs(&o.env)),
		flags.Value("env-from-secrets", "ENV=SECRET/KEY", "the same from secrets of the namespace",
			pairs(&o.secretEnv)),
		flags.Value("secret-mounts", "JSON", "secrets as files: {name, mountPath, subPath}, or a list of them",
			objects(&o.secretMounts)),
		flags.Value("service-account", "NAME", "service account of the pods", command.NonEmpty(&o.account)),
		flags.Value("annotations", "K=V", "annotations of the pods; repeated, or as JSON", pairs(&o.annotations)),
		flags.Value("labels", "K=V", "labels of the pods; repeated, or as JSON", pairs(&o.labels)),
		flags.Switch("operator", "have the operator run it", &o.operator),
		flags.Switch("no-operator", "create its objects from here", &o.direct),
		engine,
	}
}

const kubeDeployFooter = `All options of aiperf profile apply too: aiperf profile --help. --config FILE may be a configuration file or a manifest
of an AIPerfJob.
`

func (o *Deploy) generateTable() *flags.Table {
	return kubeTable("generate", `Usage: aiperf kube generate [--operator|--no-operator] [options] OPTIONS OF aiperf profile

Prints the manifests of a benchmark: with --operator, the default, the AIPerfJob, or the AIPerfSweep where several runs
are asked for; with --no-operator the objects that a cluster runs without the operator. No cluster is asked. An estimate
of the memory that the pods take goes to the standard error.

Options:
`, kubeDeployFooter, &o.clusterFlags, o.deployment()...)
}

// ProfileTable returns the flags of aiperf kube profile.
func (o *Deploy) ProfileTable() *flags.Table {
	own := slices.Concat([]flags.Flag{
		whether("detach -d", "return once the benchmark was created; the default without a terminal", &o.Detach),
		flags.Switch("no-wait", "do not wait for the pods before following the benchmark", &o.noWait),
		flags.Value("attach-port", "PORT", "port of this machine for the connection to the benchmark [default: a free one]",
			within(&o.attachPort, 0, 65535)),
		flags.Switch("skip-endpoint-check", "do not ask the server before the pods start", &o.skipEndpoint),
		flags.Switch("dry-run", "print what would be created and end; no cluster is asked", &o.dryRun),
	}, o.deployment())
	return kubeTable("profile", `Usage: aiperf kube profile [options] OPTIONS OF aiperf profile

Runs a benchmark in a cluster and follows it. Ctrl-C ends the following, not the benchmark. With the operator one
AIPerfJob is created, and results are stored; without it the objects of the benchmark are, and results stay in its
controller pod until it is shut down. For example:
  aiperf kube profile -n bench --image IMAGE -m MODEL --url http://SERVER:8000 --concurrency 100 --request-count 1000

Options:
`, kubeDeployFooter+`
Exit codes: 0 the benchmark completed, or was created with --detach; 1 it failed or was cancelled, or an error.
`, &o.clusterFlags, own...)
}

func (o *Deploy) sweepTable() *flags.Table {
	own := slices.Concat([]flags.Flag{
		flags.Value("trials", "N", "runs of each variation [default: multiRun.numRuns of the file, else 1]",
			within(&o.trials, 1, crd.MaxTrials)),
		flags.Value("cooldown", "SECONDS", "pause between two runs [default: 0]", command.Seconds(&o.cooldown, 0, 86400)),
		flags.Value("min-runs", "N", "with convergence: fewest runs of a variation [default: 3]",
			within(&o.minRuns, 1, crd.MaxTrials)),
		flags.Value("max-runs", "N", "with convergence: most runs of a variation [default: --trials, else "+
			"multiRun.numRuns, else 10]", within(&o.maxRuns, 1, crd.MaxTrials)),
		whether("detach -d", "accepted: a sweep is never followed", &o.Detach),
		flags.Switch("skip-endpoint-check", "do not ask the server before the pods start", &o.skipEndpoint),
		flags.Switch("dry-run", "print what would be created and end; no cluster is asked", &o.dryRun),
	}, o.deployment())
	return kubeTable("sweep", `Usage: aiperf kube sweep --config FILE [options] OPTIONS OF aiperf profile

Has the operator run a sweep, or several runs of one benchmark: FILE has a sweep or a multiRun section. The command
returns once the AIPerfSweep was created; aiperf kube list shows how far it is.

Options:
`, kubeDeployFooter, &o.clusterFlags, own...)
}

// pairs reads K=V, or a JSON object of texts.
func pairs(to *map[string]string) func(string) error {
	return func(v string) error {
		if *to == nil {
			*to = map[string]string{}
		}
		if strings.HasPrefix(strings.TrimSpace(v), "{") {
			more := map[string]string{}
			if err := json.Unmarshal([]byte(v), &more); err != nil {
				return fmt.Errorf("must be K=V or a JSON object of texts: %w", err)
			}
			maps.Copy(*to, more)
			return nil
		}
		key, value, ok := strings.Cut(v, "=")
		if !ok || key == "" {
			return errors.New("must be K=V or a JSON object of texts")
		}
		(*to)[key] = value
		return nil
	}
}

// objects reads a JSON object or a list of them.
func objects(to *[]crd.Object) func(string) error {
	return func(v string) error {
		var list []crd.Object
		if strings.HasPrefix(strings.TrimSpace(v), "[") {
			if err := json.Unmarshal([]byte(v), &list); err != nil {
				return fmt.Errorf("must be a JSON object or a list of them: %w", err)
			}
		} else {
			var one crd.Object
			if err := json.Unmarshal([]byte(v), &one); err != nil {
				return fmt.Errorf("must be a JSON object or a list of them: %w", err)
			}
			list = append(list, one)
		}
		*to = append(*to, list...)
		return nil
	}
}

// checkModes fails on two modes at once.
func (o *Deploy) checkModes() error {
	if o.operator && o.direct {
		return errors.New("--operator and --no-operator exclude each other")
	}
	return nil
}
