package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"aiperf/internal/base/clock"
	"aiperf/internal/cluster/kube/crd"
)

// microTime is how leases write times.
const microTime = "2006-01-02T15:04:05.000000Z07:00"

// lease is the lease of one holder at a time, by the rules of client-go's leader election: what another holder has
// written is compared with what it wrote before, and the time in between is taken from the clock of this process alone.
// The times in a lease are for people: clocks of other machines never count.
type lease struct {
	o               *Operator
	namespace, name string
	holder          string
	validity        time.Duration

	mu sync.Mutex // one look at a time
	// seen is the content of the lease as another holder has written it, at when it was first seen.
	seen string
	at   time.Time
}

// observed is a lease as it was found.
type observed struct {
	// lease is nil where there is none.
	lease *unstructured.Unstructured
	// holder is "" where it was given back. live reports that it is another one, which has renewed the lease within its
	// time, as far as this process has seen.
	holder string
	live   bool
}

func (l *lease) leases() dynamic.ResourceInterface {
	return l.o.o.Client.Resource(leasesResource).Namespace(l.namespace)
}

// look reads the lease. One that is seen for the first time is live: its holder gets the whole time to show that it is.
func (l *lease) look(ctx context.Context) (x observed, err error) {
	x.lease, err = l.leases().Get(ctx, l.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return observed{}, nil
	}
	if err != nil {
		return observed{}, err
	}
	spec, _, _ := unstructured.NestedMap(x.lease.Object, "spec")
	content, err := json.Marshal(spec)
	if err != nil {
		return observed{}, err
	}
	if string(content) != l.seen {
		l.seen, l.at = string(content), time.Now()
	}
	x.holder, _ = spec["holderIdentity"].(string)
	validity := l.validity
	if seconds, _ := spec["leaseDurationSeconds"].(int64); seconds > 0 {
		validity = time.Duration(seconds) * time.Second
	}
	x.live = x.holder != "" && x.holder != l.holder && time.Since(l.at) < validity
	return x, nil
}

// writeTries is how often a lease is read and written anew that something else has changed in between.
const writeTries = 3

// acquire takes or renews the lease and reports whether it is held now. Without an error it is false only where another
// holder has it.
func (l *lease) acquire(ctx context.Context) (held bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range writeTries {
		x, lookErr := l.look(ctx)
		if lookErr != nil || x.live {
			return false, lookErr
		}
		// Of two that take the lease one meets a conflict, and then finds the other one.
		err = l.write(ctx, &x)
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return err == nil, err
		}
	}
	return false, err
}

// write makes this holder that of the lease as it was found.
func (l *lease) write(ctx context.Context, x *observed) error {
	now := time.Now().UTC().Format(microTime)
	spec := map[string]any{"holderIdentity": l.holder, "leaseDurationSeconds": int64(l.validity / time.Second),
		"acquireTime": now, "renewTime": now, "leaseTransitions": int64(0)}
	if x.lease == nil {
		_, err := l.leases().Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
			"metadata": map[string]any{"name": l.name, "namespace": l.namespace,
				"labels": map[string]any{crd.LabelApp: crd.AppName}},
			"spec": spec,
		}}, metav1.CreateOptions{})
		return err
	}
	transitions, _, _ := unstructured.NestedInt64(x.lease.Object, "spec", "leaseTransitions")
	if x.holder == l.holder {
		if acquired, found, _ := unstructured.NestedString(x.lease.Object, "spec", "acquireTime"); found {
			spec["acquireTime"] = acquired
		}
	} else {
		transitions++
	}
	spec["leaseTransitions"] = transitions
	x.lease.Object["spec"] = spec
	_, err := l.leases().Update(ctx, x.lease, metav1.UpdateOptions{})
	return err
}

// release gives the lease back, so that the next holder need not wait.
func (l *lease) release() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	x, err := l.look(ctx)
	if err != nil || x.holder != l.holder {
		return
	}
	_ = unstructured.SetNestedField(x.lease.Object, "", "spec", "holderIdentity")
	_, _ = l.leases().Update(ctx, x.lease, metav1.UpdateOptions{})
}

// leaderLease is the name of the lease of the leader among operators of the same id.
func (o *Operator) leaderLease() string {
	if o.o.ID == "" {
		return crd.OperatorName + "-leader"
	}
	return crd.OperatorName + "-leader-" + o.o.ID
}

// elect calls lead whenever the lease of the leader is held, and ends its context before another one can hold it. At the
// end of ctx the lease is given back.
func (o *Operator) elect(ctx context.Context, lead func(context.Context)) error {
	l := &lease{o: o, namespace: o.o.Namespace, name: o.leaderLease(), holder: o.o.Identity, validity: o.o.LeaderLease}
	defer l.release()
	for ctx.Err() == nil {
		sent := time.Now()
		held, err := l.acquireBy(ctx, sent.Add(l.validity/5))
		if err != nil && ctx.Err() == nil {
			o.o.Log.Warn("the lease of the leader: " + err.Error())
		}
		if held {
			o.o.Log.Info("this operator leads", "lease", l.namespace+"/"+l.name)
			o.hold(ctx, l, sent, lead)
			continue
		}
		clock.Wait(ctx, l.validity/5)
	}
	return nil
}

// acquireBy is acquire that ends at a time.
func (l *lease) acquireBy(ctx context.Context, end time.Time) (bool, error) {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	return l.acquire(ctx)
}

// hold leads as long as the lease can be renewed. Its time began when the last renewal that succeeded was sent, renewed
// at first; a third of it is left when leading ends.
func (o *Operator) hold(ctx context.Context, l *lease, renewed time.Time, lead func(context.Context)) {
	leading, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lead(leading)
	}()
	for leading.Err() == nil {
		clock.Wait(leading, l.validity/5)
		if leading.Err() != nil {
			break
		}
		sent, deadline := time.Now(), renewed.Add(l.validity*2/3)
		if end := sent.Add(l.validity / 5); end.Before(deadline) {
			deadline = end
		}
		held, err := l.acquireBy(leading, deadline)
		switch {
		case held:
			renewed = sent
		case err == nil, time.Since(renewed) >= l.validity*2/3:
			o.o.Log.Warn("this operator no longer leads")
			stop()
		}
	}
	stop()
	<-ended
}

// claimLease is the name of the lease by which an operator with an id claims a namespace.
const claimLease = crd.OperatorName

// claimSeen is what is known of the claim of a namespace.
type claimSeen struct {
	lease *lease
	mine  bool
	at    time.Time
}

// mine reports whether this operator is responsible for a namespace: one with an id claims it, one without leaves
// claimed ones alone.
func (o *Operator) mine(ctx context.Context, namespace string) (bool, error) {
	o.mu.Lock()
	c, known := o.claims[namespace]
	o.mu.Unlock()
	if known && time.Since(c.at) < o.o.NamespaceLease/10 {
		return c.mine, nil
	}
	if c.lease == nil {
		c.lease = &lease{o: o, namespace: namespace, name: claimLease, holder: o.o.ID, validity: o.o.NamespaceLease}
	}
	var err error
	if o.o.ID != "" {
		c.mine, err = c.lease.acquire(ctx)
	} else {
		c.mine, err = c.lease.free(ctx)
	}
	if err != nil {
		return false, retry{apiRetry, fmt.Errorf("the claim of the namespace %s: %w", namespace, err)}
	}
	c.at = time.Now()
	o.mu.Lock()
	o.claims[namespace] = c
	o.mu.Unlock()
	return c.mine, nil
}

// free reports whether nobody holds the lease.
func (l *lease) free(ctx context.Context) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x, err := l.look(ctx)
	return err == nil && !x.live, err
}

// keepClaims renews the claims of namespaces.
func (o *Operator) keepClaims(ctx context.Context) {
	if o.o.ID == "" {
		return
	}
	for ctx.Err() == nil {
		clock.Wait(ctx, o.o.NamespaceLease/3)
		o.mu.Lock()
		held := make(map[string]claimSeen, len(o.claims))
		for namespace, c := range o.claims {
			if c.mine {
				held[namespace] = c
			}
		}
		o.mu.Unlock()
		for namespace, c := range held {
			mine, err := c.lease.acquire(ctx)
			if err != nil {
				o.o.Log.Warn("renewing the claim of the namespace " + namespace + ": " + err.Error())
				continue
			}
			c.mine, c.at = mine, time.Now()
			o.mu.Lock()
			o.claims[namespace] = c
			o.mu.Unlock()
		}
	}
}
