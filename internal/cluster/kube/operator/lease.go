package operator

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"aiperf/internal/cluster/kube/crd"
)

// microTime is how leases write times.
const microTime = "2006-01-02T15:04:05.000000Z07:00"

// lease is the lease of one holder at a time.
type lease struct {
	o               *Operator
	namespace, name string
	holder          string
	validity        time.Duration
	// seen is the content of another holder's lease, at when it was first seen: clocks of other machines do not count.
	seen string
	at   time.Time
}

// acquire takes or renews the lease and reports whether it is held now.
func (l *lease) acquire(ctx context.Context) (bool, error) {
	leases := l.o.o.Client.Resource(leasesResource).Namespace(l.namespace)
	now := time.Now()
	spec := map[string]any{
		"holderIdentity": l.holder, "leaseDurationSeconds": int64(l.validity / time.Second),
		"acquireTime": now.UTC().Format(microTime), "renewTime": now.UTC().Format(microTime),
	}
	u, err := leases.Get(ctx, l.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		u = &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
			"metadata": map[string]any{"name": l.name, "namespace": l.namespace,
				"labels": map[string]any{crd.LabelApp: crd.AppName}},
			"spec": spec,
		}}
		_, err = leases.Create(ctx, u, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return false, nil
		}
		return err == nil, err
	}
	if err != nil {
		return false, err
	}
	holder, _, _ := unstructured.NestedString(u.Object, "spec", "holderIdentity")
	renewed, _, _ := unstructured.NestedString(u.Object, "spec", "renewTime")
	seconds, _, _ := unstructured.NestedInt64(u.Object, "spec", "leaseDurationSeconds")
	if holder != l.holder && holder != "" {
		if content := holder + " " + renewed; content != l.seen {
			l.seen, l.at = content, now
		}
		validity := time.Duration(seconds) * time.Second
		old, err := time.Parse(microTime, renewed)
		// A lease that has not changed for its time since it was first seen is free, whatever the clocks say; one that
		// was long over when it was first seen, too.
		if now.Sub(l.at) < validity && (err != nil || now.Sub(old) < 2*validity) {
			return false, nil
		}
	}
	if holder == l.holder {
		if acquired, found, _ := unstructured.NestedString(u.Object, "spec", "acquireTime"); found {
			spec["acquireTime"] = acquired
		}
	}
	u.Object["spec"] = spec
	_, err = leases.Update(ctx, u, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return false, nil
	}
	return err == nil, err
}

// release gives the lease back, so that the next holder need not wait.
func (l *lease) release() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	leases := l.o.o.Client.Resource(leasesResource).Namespace(l.namespace)
	u, err := leases.Get(ctx, l.name, metav1.GetOptions{})
	if err != nil {
		return
	}
	if holder, _, _ := unstructured.NestedString(u.Object, "spec", "holderIdentity"); holder != l.holder {
		return
	}
	_ = unstructured.SetNestedField(u.Object, "", "spec", "holderIdentity")
	_, _ = leases.Update(ctx, u, metav1.UpdateOptions{})
}

// leaderLease is the name of the lease of the leader among operators of the same id.
func (o *Operator) leaderLease() string {
	if o.o.ID == "" {
		return crd.OperatorName + "-leader"
	}
	return crd.OperatorName + "-leader-" + o.o.ID
}

// elect calls lead whenever the lease of the leader is held, and ends its context before another one can hold it.
func (o *Operator) elect(ctx context.Context, lead func(context.Context)) error {
	l := &lease{o: o, namespace: o.o.Namespace, name: o.leaderLease(), holder: o.o.Identity, validity: o.o.LeaderLease}
	defer l.release()
	for ctx.Err() == nil {
		held, err := l.acquire(ctx)
		if err != nil && ctx.Err() == nil {
			o.o.Log.Warn("the lease of the leader: " + err.Error())
		}
		if held {
			o.o.Log.Info("this operator leads", "lease", l.namespace+"/"+l.name)
			o.hold(ctx, l, lead)
			continue
		}
		wait(ctx, l.validity/5)
	}
	return nil
}

// hold leads as long as the lease can be renewed.
func (o *Operator) hold(ctx context.Context, l *lease, lead func(context.Context)) {
	leading, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lead(leading)
	}()
	renewed := time.Now()
	for leading.Err() == nil {
		wait(leading, l.validity/5)
		if leading.Err() != nil {
			break
		}
		try, cancel := context.WithTimeout(leading, l.validity/5)
		held, err := l.acquire(try)
		cancel()
		switch {
		case held:
			renewed = time.Now()
		case err == nil, time.Since(renewed) > l.validity*2/3:
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
	u, err := l.o.o.Client.Resource(leasesResource).Namespace(l.namespace).Get(ctx, l.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	holder, _, _ := unstructured.NestedString(u.Object, "spec", "holderIdentity")
	renewed, _, _ := unstructured.NestedString(u.Object, "spec", "renewTime")
	seconds, _, _ := unstructured.NestedInt64(u.Object, "spec", "leaseDurationSeconds")
	at, err := time.Parse(microTime, renewed)
	return holder == "" || err != nil || time.Since(at) > time.Duration(seconds)*time.Second, nil
}

// keepClaims renews the claims of namespaces.
func (o *Operator) keepClaims(ctx context.Context) {
	if o.o.ID == "" {
		return
	}
	for ctx.Err() == nil {
		wait(ctx, o.o.NamespaceLease/3)
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
