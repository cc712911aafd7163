package operator

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	k8stesting "k8s.io/client-go/testing"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

// noSecrets has the API refuse to show secrets, as the role of the operator has it.
func (c *cluster) noSecrets() {
	for _, verb := range []string{"get", "list", "watch", "patch", "update", "delete"} {
		c.client.PrependReactor(verb, "secrets", func(a k8stesting.Action) (bool, runtime.Object, error) {
			c.t.Errorf("the operator tries to %s secrets", a.GetVerb())
			return true, nil, apierrors.NewForbidden(a.GetResource().GroupResource(), "x", errors.New("no right"))
		})
	}
}

func TestJobsAndSweepsAreMadeWithoutReadingSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(crd.Object{"podTemplate": crd.Object{
			"env": []any{crd.Object{"name": "KEY", "valueFrom": crd.Object{"secretKeyRef": crd.Object{"name": "s", "key": "k"}}}}}}))
		c.noSecrets()
		for range 2 { // the second time after a crash: all objects exist
			if _, err := c.step(); err != nil {
				t.Fatal(err)
			}
			if !created(&c.head().Status) {
				t.Fatalf("the job is not made: %+v", c.head().Status)
			}
			c.patch(jobsResource, "j", `{"status":null}`)
		}
	})
}

func TestAForbiddenTemplateFailsTheJobWithItsField(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, job(crd.Object{"podTemplate": crd.Object{"extraPodSpec": crd.Object{"hostPID": true}}}))
		if _, err := c.step(); err != nil {
			t.Fatal(err)
		}
		h := c.head()
		if h.Status.Phase != crd.Failed || !strings.Contains(h.Status.Error, "spec.podTemplate.extraPodSpec.hostPID") ||
			c.condition(configValid).Reason != "SpecInvalid" || c.exists(client.Jobs, "aiperf-j-controller-0") {
			t.Errorf("the status is %+v", h.Status)
		}
	})
}

func TestOnlyAccountsForBenchmarksAreGivenToThem(t *testing.T) {
	account := func(labels crd.Object) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: crd.Object{"apiVersion": "v1", "kind": "ServiceAccount",
			"metadata": crd.Object{"name": "robot", "namespace": "ns", "labels": labels}}}
	}
	for _, x := range []struct {
		name, phase, text string
		objects           []runtime.Object
	}{
		{"missing", crd.Failed, "the service account robot does not exist", nil},
		{"of somebody else", crd.Failed, "kubectl label serviceaccount robot -n ns " + crd.LabelAccount + "=true",
			[]runtime.Object{account(crd.Object{"a": "b"})}},
		{"forbidden", crd.Failed, "is not for benchmarks", []runtime.Object{account(crd.Object{crd.LabelAccount: "false"})}},
		{"allowed", crd.Pending, "", []runtime.Object{account(crd.Object{crd.LabelAccount: "true"})}},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, append(x.objects, job(crd.Object{"podTemplate": crd.Object{"serviceAccountName": "robot"}}))...)
			if _, err := c.step(); err != nil {
				t.Fatal(err)
			}
			if h := c.head(); h.Status.Phase != x.phase || !strings.Contains(h.Status.Error, x.text) ||
				c.exists(client.RoleBindings, "aiperf-j-binding") != (x.phase == crd.Pending) {
				t.Errorf("%s: the status is %+v", x.name, h.Status)
			}
		})
	}
}

func TestTheTokenOfTheResultsServerIsMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		first, err := ResultsToken(t.Context(), c.client, "system")
		if err != nil || len(first) < 20 {
			t.Fatalf("%q, %v", first, err)
		}
		if again, err := ResultsToken(t.Context(), c.client, "system"); again != first || err != nil {
			t.Errorf("the second operator gets %q and not %q: %v", again, first, err)
		}
		if a, b := NamespaceToken(first, "a"), NamespaceToken(first, "b"); a == b || a == first || NamespaceToken("", "a") != "" {
			t.Errorf("the tokens of namespaces are %q and %q", a, b)
		}
		secrets := c.client.Resource(client.Secrets).Namespace("system")
		u, err := secrets.Get(t.Context(), crd.ResultsSecret, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		u.Object["data"] = crd.Object{"other": "eA=="}
		if _, err := secrets.Update(t.Context(), u, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if token, err := ResultsToken(t.Context(), c.client, "system"); err == nil || !strings.Contains(err.Error(), "no key token") {
			t.Errorf("of a secret without the key: %q, %v", token, err)
		}
	})
}

func TestARightThatIsMissingEndsTheWaitForTheToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.client.PrependReactor("get", "secrets", func(a k8stesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(a.GetResource().GroupResource(), "x", errors.New("no right"))
		})
		if _, err := ResultsToken(t.Context(), c.client, "system"); err == nil || !strings.Contains(err.Error(), crd.ResultsSecret) {
			t.Errorf("%v", err)
		}
	})
}
