package operator

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	k8stesting "k8s.io/client-go/testing"

	"aiperf/internal/cluster/kube/crd"
)

// skews are by how much the clock of another machine is behind; negative is ahead.
var skews = []time.Duration{0, 20 * time.Second, 31 * time.Second, 10 * time.Minute, -10 * time.Minute}

// renewElsewhere writes a lease as its holder on a machine with another clock does.
func (c *cluster) renewElsewhere(namespace, name, holder string, validity, skew time.Duration) {
	c.t.Helper()
	now := time.Now().Add(-skew).UTC().Format(microTime)
	u := &unstructured.Unstructured{Object: crd.Object{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": crd.Object{"name": name, "namespace": namespace},
		"spec": crd.Object{"holderIdentity": holder, "leaseDurationSeconds": int64(validity / time.Second),
			"acquireTime": now, "renewTime": now}}}
	leases := c.client.Resource(leasesResource).Namespace(namespace)
	if _, err := leases.Update(c.t.Context(), u, metav1.UpdateOptions{}); err != nil {
		if _, err := leases.Create(c.t.Context(), u, metav1.CreateOptions{}); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *cluster) holder(namespace, name string) string {
	c.t.Helper()
	u, err := c.client.Resource(leasesResource).Namespace(namespace).Get(c.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	holder, _, _ := unstructured.NestedString(u.Object, "spec", "holderIdentity")
	return holder
}

// TestALeaseIsTakenFromTheDeadAndNeverFromTheLiving has another operator that renews its lease for five validities and
// then dies, on machines whose clocks differ. Only the time without a renewal counts.
func TestALeaseIsTakenFromTheDeadAndNeverFromTheLiving(t *testing.T) {
	const validity = 15 * time.Second
	for _, skew := range skews {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			l := &lease{o: c.op, namespace: "system", name: "x", holder: "me", validity: validity}
			watcher := &lease{o: c.op, namespace: "system", name: "x", holder: "me", validity: validity}
			for alive := time.Duration(0); alive < 5*validity; alive += validity / 5 {
				c.renewElsewhere("system", "x", "other", validity, skew)
				if held, err := l.acquire(t.Context()); held || err != nil {
					t.Fatalf("skew %v: after %v the lease of a living holder is held: %v, %v", skew, alive, held, err)
				}
				if free, err := watcher.free(t.Context()); free || err != nil {
					t.Fatalf("skew %v: after %v the lease of a living holder is free: %v, %v", skew, alive, free, err)
				}
				time.Sleep(validity / 5)
			}
			died := time.Now().Add(-validity / 5)
			for {
				free, err := watcher.free(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				held, err := l.acquire(t.Context())
				if err != nil || held != free {
					t.Fatalf("skew %v: free %v, held %v, %v", skew, free, held, err)
				}
				if held {
					break
				}
				time.Sleep(time.Second)
			}
			if took := time.Since(died); took < validity || took > validity+time.Second {
				t.Errorf("skew %v: the lease of a dead holder was taken after %v", skew, took)
			}
			if got := c.holder("system", "x"); got != "me" {
				t.Errorf("the holder is %q", got)
			}
		})
	}
}

func TestALeaseThatIsSeenForTheFirstTimeIsLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.renewElsewhere("system", "x", "other", 15*time.Second, 24*time.Hour)
		l := &lease{o: c.op, namespace: "system", name: "x", holder: "me", validity: 15 * time.Second}
		if held, err := l.acquire(t.Context()); held || err != nil {
			t.Errorf("at the first look it is held: %v, %v", held, err)
		}
		c.renewElsewhere("system", "x", "", 15*time.Second, 0) // given back
		if held, err := l.acquire(t.Context()); !held || err != nil {
			t.Errorf("a lease that was given back is held: %v, %v", held, err)
		}
	})
}

func TestTheClaimOfANamespaceIsKeptWhateverTheClocksSay(t *testing.T) {
	for _, skew := range skews {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			rival := c.operator("r")
			rival.o.ID = "rival"
			validity := c.op.o.NamespaceLease
			for range 12 {
				c.renewElsewhere("ns", claimLease, "team", validity, skew)
				for name, o := range map[string]*Operator{"the global operator": c.op, "a rival": rival} {
					if mine, err := o.mine(t.Context(), "ns"); mine || err != nil {
						t.Fatalf("skew %v: %s has a claimed namespace: %v, %v", skew, name, mine, err)
					}
				}
				time.Sleep(validity / 3)
			}
			time.Sleep(validity) // nobody renews
			if mine, err := rival.mine(t.Context(), "ns"); !mine || err != nil {
				t.Errorf("skew %v: the claim of a dead operator is kept: %v, %v", skew, mine, err)
			}
		})
	}
}

func TestALeaderGivesTheLeaseBackAfterItsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		ctx, end := context.WithCancel(t.Context())
		working := false
		var running sync.WaitGroup
		running.Go(func() {
			_ = c.op.elect(ctx, func(ctx context.Context) {
				working = true
				<-ctx.Done()
				time.Sleep(5 * time.Second) // what is left to do
				if got := c.holder("system", c.op.leaderLease()); got != "one" {
					t.Errorf("while it works the holder is %q", got)
				}
				working = false
			})
		})
		time.Sleep(time.Minute)
		end()
		running.Wait()
		if working || c.holder("system", c.op.leaderLease()) != "" {
			t.Errorf("after the end it works: %v, and the holder is %q", working, c.holder("system", c.op.leaderLease()))
		}
	})
}

// TestALeaderStopsBeforeItsLeaseIsOver has an API that fails from some time on.
func TestALeaderStopsBeforeItsLeaseIsOver(t *testing.T) {
	for _, slow := range []time.Duration{0, 2900 * time.Millisecond, time.Hour} { // how long a request takes to fail
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			var mu sync.Mutex
			broken, renewed := false, time.Time{}
			c.client.PrependReactor("*", "leases", func(a k8stesting.Action) (bool, runtime.Object, error) {
				mu.Lock()
				defer mu.Unlock()
				if broken {
					// The fake client knows no context: a request that hangs ends with its time limit, a fifth of the lease.
					time.Sleep(min(slow, c.op.o.LeaderLease/5))
					return true, nil, errors.New("the API is gone")
				}
				renewed = time.Now()
				return false, nil, nil
			})
			ctx, end := context.WithCancel(t.Context())
			var running sync.WaitGroup
			var stopped time.Time
			running.Go(func() {
				_ = c.op.elect(ctx, func(ctx context.Context) {
					<-ctx.Done()
					stopped = time.Now()
				})
			})
			time.Sleep(31 * time.Second)
			mu.Lock()
			broken = true
			mu.Unlock()
			time.Sleep(time.Minute)
			end()
			running.Wait()
			if took := stopped.Sub(renewed); stopped.IsZero() || took >= c.op.o.LeaderLease {
				t.Errorf("requests fail after %v: it led until %v after its last renewal", slow, took)
			}
		})
	}
}
