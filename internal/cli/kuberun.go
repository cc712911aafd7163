package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/cluster/kube/deployed"
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
func (a *app) kubeDeployment(o *kubeDeploy, name string, args []string) (b *kubeBenchmark, code int, done bool) {
	table := o.profileTable()
	if name == "sweep" {
		table = o.sweepTable()
	}
	own, rest := splitFlags(table, args)
	if _, code, done := a.parse(table, append(own, help(args)...)); done {
		return nil, code, true
	}
	a.hideSecrets(rest)
	if err := o.checkModes(); err != nil {
		return nil, a.fail(err), true
	}
	b, err := a.kubeBenchmarkOf(o, rest)
	if err != nil {
		return nil, a.fail(err), true
	}
	return b, ExitOK, false
}

// kubeProfile runs a benchmark in a cluster.
func (a *app) kubeProfile(args []string) int {
	var o kubeDeploy
	b, code, done := a.kubeDeployment(&o, "profile", args)
	if done {
		return code
	}
	if b.kind == crd.SweepKind {
		if o.direct {
			return a.fail(needsOperator("aiperf kube sweep --config FILE creates it"))
		}
		return a.fail(errors.New("aiperf kube profile runs one benchmark: aiperf kube sweep --config FILE runs a sweep, or " +
			"several runs"))
	}
	return a.kubeSubmit(&o, b, func(ctx context.Context, c *client.Client, created *deployed.Benchmark) int {
		return a.kubeCreated(ctx, c, &o, b, created)
	})
}

// kubeCreated follows a benchmark that was created, or says how to.
func (a *app) kubeCreated(ctx context.Context, c *client.Client, o *kubeDeploy, b *kubeBenchmark,
	created *deployed.Benchmark) int {
	fmt.Fprintf(a.terminal.out, "Created %s in %s.\n", b.name, created.Namespace)
	detach := o.detach != nil && *o.detach
	if o.detach == nil && !(term.IsTerminal(int(os.Stdin.Fd())) && a.terminal.outTTY) {
		detach = true
		fmt.Fprintln(a.terminal.err, "Warning: there is no terminal, so that the benchmark is not followed; "+
			"aiperf kube attach follows it")
	}
	if detach || o.noWait && !created.Direct() {
		fmt.Fprintf(a.terminal.err, "Follow it: aiperf kube attach %s -n %s\n", b.name, created.Namespace)
		return ExitOK
	}
	if !created.Direct() {
		return a.await(ctx, c, created)
	}
	return a.follow(ctx, c, created, o.attachPort)
}

// kubeSubmit prints what would be created, or creates it and goes on with then.
func (a *app) kubeSubmit(o *kubeDeploy, b *kubeBenchmark,
	then func(context.Context, *client.Client, *deployed.Benchmark) int) int {
	namespace, err := o.options().FindNamespace()
	if err != nil {
		return a.fail(err)
	}
	if o.dryRun {
		return a.kubeDryRun(o, b, namespace)
	}
	c, err := client.Connect(o.options())
	if err != nil {
		return a.fail(err)
	}
	ctx, stop := untilInterrupted()
	defer stop()
	created, err := a.kubeCreate(ctx, c, o, b, namespace)
	if err != nil {
		return a.fail(kubeError(err))
	}
	return then(ctx, c, created)
}

// kubeDryRun prints what would be created.
func (a *app) kubeDryRun(o *kubeDeploy, b *kubeBenchmark, namespace string) int {
	if o.direct {
		objects, err := crd.Build(b.job(namespace), crd.BuildOptions{Engine: o.engineOf(false), Token: newToken(),
			Run: b.run})
		if err != nil {
			return a.fail(err)
		}
		a.terminal.out.Write(crd.Documents(objects...))
	} else {
		object, err := b.object(namespace)
		if err != nil {
			return a.fail(err)
		}
		fmt.Fprintln(a.terminal.out, crd.ObjectJSON(object))
	}
	a.kubeEstimate(b)
	return ExitOK
}

// kubeCreate checks the cluster and creates a benchmark: by the operator where the cluster has its kinds, or as asked.
func (a *app) kubeCreate(ctx context.Context, c *client.Client, o *kubeDeploy, b *kubeBenchmark, namespace string) (
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
			return nil, fmt.Errorf("the cluster has no %s: install the operator, see docs/kubernetes.md", b.kind)
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
		a.printChecks(r)
		return nil, errors.New("the cluster cannot run the benchmark; aiperf kube preflight checks all of it")
	}
	if err := a.kubeFree(ctx, c, b, namespace); err != nil {
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
	if err := last.Write(a.env); err != nil {
		fmt.Fprintf(a.terminal.err, "Warning: the benchmark is not remembered as the last one: %v\n", err)
	}
	return deployed.Find(ctx, c, namespace, b.name, last.Kind, -1, -1)
}

// kubeFree refuses a name that is in use; a finished benchmark must be deleted first, too, so that nobody loses results
// unasked.
func (a *app) kubeFree(ctx context.Context, c *client.Client, b *kubeBenchmark, namespace string) error {
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
func (a *app) kubeSweep(args []string) int {
	var o kubeDeploy
	table := o.sweepTable()
	own, rest := splitFlags(table, args)
	if _, code, done := a.parse(table, append(own, help(args)...)); done {
		return code
	}
	if o.direct {
		return a.fail(needsOperator("aiperf kube sweep --config FILE without --no-operator creates it"))
	}
	a.hideSecrets(rest)
	if !hasFlag(rest, "--config") && !hasFlag(rest, "-f") {
		return a.fail(errors.New("aiperf kube sweep needs --config FILE with a sweep or a multiRun section"))
	}
	b, err := a.kubeBenchmarkOf(&o, rest)
	if err != nil {
		return a.fail(err)
	}
	if b.kind != crd.SweepKind && o.trials < 2 {
		return a.fail(errors.New("the configuration has neither a sweep nor a multiRun section: aiperf kube profile runs " +
			"one benchmark"))
	}
	b.kind = crd.SweepKind
	if err := o.repeat(b); err != nil {
		return a.fail(err)
	}
	if b.spec.Sweep == nil {
		b.spec.Sweep = carrier()
	}
	if err := b.size(); err != nil {
		return a.fail(err)
	}
	return a.kubeSubmit(&o, b, func(_ context.Context, _ *client.Client, created *deployed.Benchmark) int {
		fmt.Fprintf(a.terminal.out, "Created the sweep %s in %s.\n", b.name, created.Namespace)
		fmt.Fprintf(a.terminal.err, "See how far it is: aiperf kube list %s -n %s\n", b.name, created.Namespace)
		return ExitOK
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
func (o *kubeDeploy) repeat(b *kubeBenchmark) error {
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
