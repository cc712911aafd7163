package kube

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"

	"aiperf/internal/base/manual"
	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
	"aiperf/internal/config/flags"
)

// newToken is a secret that coordinator and agents share.
func newToken() string {
	var b [32]byte
	rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// newName is the name of a benchmark that the user gave none.
func newName() string { return "aiperf-" + newToken()[:8] }

// kubeDeployment parses the flags of a sub-command that creates a benchmark.
func kubeDeployment(e *command.Env, o *Deploy, table *flags.Table, args []string) (*kubeBenchmark, error) {
	own, rest := SplitFlags(table, args)
	if _, err := e.Parse(table, append(own, help(args)...)); err != nil {
		return nil, err
	}
	e.HideSecrets(rest)
	if err := o.checkModes(); err != nil {
		return nil, err
	}
	return kubeBenchmarkOf(e, o, rest)
}

// kubeProfile runs a benchmark in a cluster.
func kubeProfile(e *command.Env, args []string) error {
	var o Deploy
	b, err := kubeDeployment(e, &o, o.ProfileTable(), args)
	if err != nil {
		return err
	}
	if b.kind == crd.SweepKind {
		if o.direct {
			return needsOperator("aiperf kube sweep --config FILE creates it")
		}
		return errors.New("aiperf kube profile runs one benchmark: aiperf kube sweep --config FILE runs a sweep, or " +
			"several runs")
	}
	return kubeSubmit(e, &o, b, func(ctx context.Context, c *client.Client, created *deployed.Benchmark) error {
		return kubeCreated(ctx, e, c, &o, b, created)
	})
}

// kubeCreated follows a benchmark that was created, or says how to.
func kubeCreated(ctx context.Context, e *command.Env, c *client.Client, o *Deploy, b *kubeBenchmark,
	created *deployed.Benchmark) error {
	fmt.Fprintf(e.Terminal.Out, "Created %s in %s.\n", b.name, created.Namespace)
	detach := o.Detach != nil && *o.Detach
	if o.Detach == nil && !(term.IsTerminal(int(os.Stdin.Fd())) && e.Terminal.OutTTY) {
		detach = true
		fmt.Fprintln(e.Terminal.Err, "Warning: there is no terminal, so that the benchmark is not followed; "+
			"aiperf kube attach follows it")
	}
	if detach || o.noWait && !created.Direct() {
		fmt.Fprintf(e.Terminal.Err, "Follow it: aiperf kube attach %s -n %s\n", b.name, created.Namespace)
		return nil
	}
	if !created.Direct() {
		return await(ctx, e, c, created)
	}
	return follow(ctx, e, c, created, o.attachPort)
}

// kubeSubmit prints what would be created, or creates it and goes on with then.
func kubeSubmit(e *command.Env, o *Deploy, b *kubeBenchmark,
	then func(context.Context, *client.Client, *deployed.Benchmark) error) error {
	namespace, err := o.options().FindNamespace()
	if err != nil {
		return err
	}
	if o.dryRun {
		return kubeDryRun(e, o, b, namespace)
	}
	c, err := client.Connect(o.options())
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	created, err := kubeCreate(ctx, e, c, o, b, namespace)
	if err != nil {
		return kubeError(err)
	}
	return then(ctx, c, created)
}

// kubeDryRun prints what would be created.
func kubeDryRun(e *command.Env, o *Deploy, b *kubeBenchmark, namespace string) error {
	if o.direct {
		objects, err := crd.Build(b.job(namespace), crd.BuildOptions{Engine: o.engineOf(false), Token: newToken(),
			Run: b.run})
		if err != nil {
			return err
		}
		e.Terminal.Out.Write(crd.Documents(objects...))
	} else {
		object, err := b.object(namespace)
		if err != nil {
			return err
		}
		fmt.Fprintln(e.Terminal.Out, crd.ObjectJSON(object))
	}
	kubeEstimate(e, b)
	return nil
}

// kubeCreate checks the cluster and creates a benchmark: by the operator where the cluster has its kinds, or as asked.
func kubeCreate(ctx context.Context, e *command.Env, c *client.Client, o *Deploy, b *kubeBenchmark, namespace string) (
	*deployed.Benchmark, error) {
	direct := o.direct
	kind := deployed.JobKind
	if b.kind == crd.SweepKind {
		kind = deployed.SweepKind
	}
	if !o.operator && !direct {
		has, err := c.Has(ctx, kind)
		if err != nil {
			return nil, err
		}
		if direct = !has; direct && b.kind == crd.SweepKind {
			return nil, fmt.Errorf("the cluster has no %s: install the operator, see %s", b.kind, manual.Page("kubernetes"))
		}
	}
	jobSet := false
	if direct {
		var err error
		if jobSet, err = c.Has(ctx, client.JobSets); err != nil {
			return nil, err
		}
	}
	engine := o.engineOf(jobSet)
	if direct && engine == crd.EngineJobs && b.spec.Queue() != "" {
		return nil, errors.New("a queue without the operator needs JobSet: Kueue admits the Jobs of the controller and of " +
			"the workers one by one; install the operator or JobSet, or leave out --queue-name")
	}
	checks := deployed.PreflightOptions{Namespace: namespace, Quick: true, Direct: direct,
		JobSet: direct && engine == crd.EngineJobSet, Workers: 1}
	if !o.skipEndpoint && len(b.run.Endpoint.URLs) > 0 {
		checks.Endpoint = b.run.Endpoint.URLs[0]
	}
	if r := deployed.Preflight(ctx, c, checks); !r.Passed {
		printChecks(e, r)
		return nil, errors.New("the cluster cannot run the benchmark; aiperf kube preflight checks all of it")
	}
	if err := kubeFree(ctx, c, b, namespace); err != nil {
		return nil, err
	}
	objects := []client.Object{}
	if direct {
		built, err := crd.Build(b.job(namespace), crd.BuildOptions{Engine: engine, Token: newToken(), Run: b.run})
		if err != nil {
			return nil, err
		}
		objects = built
	} else {
		object, err := b.object(namespace)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	if err := deployed.Create(ctx, c, objects); err != nil {
		return nil, err
	}
	last := deployed.Last{JobID: b.name, Namespace: namespace, Name: b.name, Kind: b.kind}
	if direct {
		last.Kind = ""
	}
	if err := last.Write(e.LookupEnv); err != nil {
		fmt.Fprintf(e.Terminal.Err, "Warning: the benchmark is not remembered as the last one: %v\n", err)
	}
	return deployed.Find(ctx, c, namespace, b.name, last.Kind, -1, -1)
}

// kubeFree refuses a name that is in use; a finished benchmark must be deleted first, too, so that nobody loses results
// unasked.
func kubeFree(ctx context.Context, c *client.Client, b *kubeBenchmark, namespace string) error {
	there, err := deployed.Find(ctx, c, namespace, b.name, "", -1, -1)
	var none *deployed.NotFoundError
	var two *deployed.AmbiguousError
	switch {
	case errors.As(err, &none):
		return nil
	case errors.As(err, &two):
		return fmt.Errorf("%s exists already in %s: give another --name", b.name, namespace)
	case err != nil:
		return err
	}
	return fmt.Errorf("%s exists already in %s and is %s: give another --name, or delete it with aiperf kube delete %s -n %s",
		b.name, namespace, there.Phase(), b.name, namespace)
}

// kubeSweep has the operator run a sweep.
func kubeSweep(e *command.Env, args []string) error {
	var o Deploy
	table := o.sweepTable()
	own, rest := SplitFlags(table, args)
	if _, err := e.Parse(table, append(own, help(args)...)); err != nil {
		return err
	}
	if o.direct {
		return needsOperator("aiperf kube sweep --config FILE without --no-operator creates it")
	}
	e.HideSecrets(rest)
	if !hasFlag(rest, "--config") && !hasFlag(rest, "-f") {
		return errors.New("aiperf kube sweep needs --config FILE with a sweep or a multiRun section")
	}
	b, err := kubeBenchmarkOf(e, &o, rest)
	if err != nil {
		return err
	}
	if b.kind != crd.SweepKind && o.trials < 2 {
		return errors.New("the configuration has neither a sweep nor a multiRun section: aiperf kube profile runs " +
			"one benchmark")
	}
	b.kind = crd.SweepKind
	if err := o.repeat(b); err != nil {
		return err
	}
	if b.spec.Sweep == nil {
		b.spec.Sweep = carrier()
	}
	if err := b.size(); err != nil {
		return err
	}
	return kubeSubmit(e, &o, b, func(_ context.Context, _ *client.Client, created *deployed.Benchmark) error {
		fmt.Fprintf(e.Terminal.Out, "Created the sweep %s in %s.\n", b.name, created.Namespace)
		fmt.Fprintf(e.Terminal.Err, "See how far it is: aiperf kube list %s -n %s\n", b.name, created.Namespace)
		return nil
	})
}

func hasFlag(args []string, name string) bool {
	for _, arg := range args {
		if arg == name || len(arg) > len(name) && arg[:len(name)+1] == name+"=" {
			return true
		}
	}
	return false
}

// repeat puts the flags about repetitions into a sweep.
func (o *Deploy) repeat(b *kubeBenchmark) error {
	multi := crd.Object{}
	for k, v := range b.spec.MultiRun {
		multi[k] = v
	}
	if o.trials > 0 {
		multi["numRuns"] = int64(o.trials)
	}
	if o.cooldown > 0 {
		multi["cooldownSeconds"] = o.cooldown
	}
	convergence, _ := multi["convergence"].(crd.Object)
	switch {
	case len(convergence) > 0:
		least, most := max(o.minRuns, 0), o.maxRuns
		if least > 0 {
			convergence["minRuns"] = int64(least)
		}
		if most == 0 {
			most = o.trials
		}
		if most == 0 && multi["numRuns"] == nil {
			most = crd.MaxTrials
		}
		if most > 0 {
			multi["numRuns"] = int64(most)
		}
		if least > 0 && most > 0 && least > most {
			return fmt.Errorf("--min-runs %d is above --max-runs %d", least, most)
		}
	case o.minRuns > 0 || o.maxRuns > 0:
		return errors.New("--min-runs and --max-runs need multiRun.convergence in the configuration")
	}
	if len(multi) > 0 {
		b.spec.MultiRun = multi
	}
	return nil
}
