// Package client talks to the API of a Kubernetes cluster: kubeconfig files and contexts, the account of a pod, objects
// as mappings, logs, and connections to ports of pods.
//
// Every call takes a context and ends with it. The package must never know what the objects mean.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Object is an object as the API carries it.
type Object = map[string]any

// Kind is a kind of object in the API.
type Kind = schema.GroupVersionResource

// The kinds of Kubernetes itself.
var (
	Pods            = Kind{Version: "v1", Resource: "pods"}
	Services        = Kind{Version: "v1", Resource: "services"}
	Secrets         = Kind{Version: "v1", Resource: "secrets"}
	ConfigMaps      = Kind{Version: "v1", Resource: "configmaps"}
	Events          = Kind{Version: "v1", Resource: "events"}
	Nodes           = Kind{Version: "v1", Resource: "nodes"}
	Namespaces      = Kind{Version: "v1", Resource: "namespaces"}
	Quotas          = Kind{Version: "v1", Resource: "resourcequotas"}
	Jobs            = Kind{Group: "batch", Version: "v1", Resource: "jobs"}
	Deployments     = Kind{Group: "apps", Version: "v1", Resource: "deployments"}
	Roles           = Kind{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}
	RoleBindings    = Kind{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}
	NetworkPolicies = Kind{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"}
	Definitions     = Kind{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	AccessReviews   = Kind{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}
	JobSets         = Kind{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}
)

// kinds finds the resource of a manifest's kind.
var kinds = map[string]Kind{"Role": Roles, "RoleBinding": RoleBindings, "ConfigMap": ConfigMaps, "Secret": Secrets,
	"NetworkPolicy": NetworkPolicies, "Service": Services, "Job": Jobs, "JobSet": JobSets,
	"AIPerfJob":   {Group: "aiperf.nvidia.com", Version: "v1alpha1", Resource: "aiperfjobs"},
	"AIPerfSweep": {Group: "aiperf.nvidia.com", Version: "v1alpha1", Resource: "aiperfsweeps"}}

// KindOf is the kind of a manifest that this program writes.
func KindOf(o Object) (Kind, error) {
	name, _ := o["kind"].(string)
	k, ok := kinds[name]
	if !ok {
		return Kind{}, fmt.Errorf("objects of the kind %q are not created by this program", name)
	}
	return k, nil
}

// Options says which cluster is meant.
type Options struct {
	// Kubeconfig is a file; "" is $KUBECONFIG or ~/.kube/config, and in a pod its own account where there is neither.
	Kubeconfig string
	// Context is a context of the file; "" is its current one.
	Context string
	// Namespace is that of the flag; "" is that of the context.
	Namespace string
}

// loader reads kubeconfig files as kubectl does.
func (o Options) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: o.Context}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
}

// NoNamespaceError is a command that needs a namespace and got none.
type NoNamespaceError struct{ Context string }

func (e *NoNamespaceError) Error() string {
	where := "there is no kubeconfig with a current context"
	if e.Context != "" {
		where = fmt.Sprintf("the context %q has none", e.Context)
	}
	return "a namespace is needed, and " + where + ": give -n NAMESPACE, or set one with kubectl config set-context " +
		"--current --namespace NAMESPACE"
}

// FindNamespace returns the namespace of the flag, else that of the context. It reads files only.
func (o Options) FindNamespace() (string, error) {
	if o.Namespace != "" {
		return o.Namespace, nil
	}
	raw, err := o.loader().RawConfig()
	if err != nil {
		return "", fmt.Errorf("the kubeconfig cannot be read: %w", err)
	}
	name := cmp.Or(o.Context, raw.CurrentContext)
	c, ok := raw.Contexts[name]
	if !ok && o.Context != "" {
		return "", unknownContext(o.Context, raw)
	}
	if ok && c.Namespace != "" {
		return c.Namespace, nil
	}
	if len(raw.Contexts) == 0 {
		if data, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace"); err == nil {
			return strings.TrimSpace(string(data)), nil
		}
	}
	return "", &NoNamespaceError{Context: name}
}

func unknownContext(name string, raw clientcmdapi.Config) error {
	var names []string
	for n := range raw.Contexts {
		names = append(names, n)
	}
	known := "the kubeconfig has none"
	if len(names) > 0 {
		known = "there are " + strings.Join(names, ", ")
	}
	return fmt.Errorf("--kube-context %s: there is no such context; %s", name, known)
}

// Client is the API of one cluster.
type Client struct {
	Config *rest.Config
	api    dynamic.Interface
	http   *http.Client
}

// requestTimeout bounds a request that does not stream.
const requestTimeout = 30 * time.Second

// Connect prepares a client. It does not contact the cluster.
func Connect(o Options) (*Client, error) {
	if o.Context != "" {
		if raw, err := o.loader().RawConfig(); err == nil && raw.Contexts[o.Context] == nil {
			return nil, unknownContext(o.Context, raw)
		}
	}
	config, err := o.loader().ClientConfig()
	if err != nil {
		if clientcmd.IsEmptyConfig(err) || errors.Is(err, rest.ErrNotInCluster) {
			return nil, fmt.Errorf("there is no cluster: neither --kubeconfig nor $KUBECONFIG nor ~/.kube/config names one")
		}
		return nil, fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	return New(config)
}

// New is a client of a configuration.
func New(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = "aiperf"
	config.QPS, config.Burst = 50, 100
	config.WarningHandler = rest.NoWarnings{}
	api, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return &Client{Config: config, api: api, http: h}, nil
}

// IsNotFound reports that there is no such object or kind.
func IsNotFound(err error) bool { return apierrors.IsNotFound(err) }

// IsForbidden reports that this account may not do that.
func IsForbidden(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// IsExists reports that there is an object of the name already.
func IsExists(err error) bool { return apierrors.IsAlreadyExists(err) }

// IsConflict reports that an object has changed in between.
func IsConflict(err error) bool { return apierrors.IsConflict(err) }

// Get reads an object; namespace is "" for kinds without one.
func (c *Client) Get(ctx context.Context, k Kind, namespace, name string) (Object, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	o, err := c.api.Resource(k).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return o.Object, nil
}

// pageSize bounds the objects of one answer.
const pageSize = 500

// List reads the objects of a namespace, "" is all, that a selector of labels selects.
func (c *Client) List(ctx context.Context, k Kind, namespace, selector string) ([]Object, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var out []Object
	o := metav1.ListOptions{LabelSelector: selector, Limit: pageSize}
	for {
		list, err := c.api.Resource(k).Namespace(namespace).List(ctx, o)
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			out = append(out, list.Items[i].Object)
		}
		if o.Continue = list.GetContinue(); o.Continue == "" {
			return out, nil
		}
	}
}

// Create creates an object; the API refuses unknown fields.
func (c *Client) Create(ctx context.Context, k Kind, namespace string, o Object) (Object, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	made, err := c.api.Resource(k).Namespace(namespace).Create(ctx, &unstructured.Unstructured{Object: jsonTypes(o)},
		metav1.CreateOptions{FieldManager: "aiperf", FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		return nil, err
	}
	return made.Object, nil
}

// Merge patches an object by a merge patch.
func (c *Client) Merge(ctx context.Context, k Kind, namespace, name string, patch Object) (Object, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	data, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	o, err := c.api.Resource(k).Namespace(namespace).Patch(ctx, name, types.MergePatchType, data,
		metav1.PatchOptions{FieldManager: "aiperf"})
	if err != nil {
		return nil, err
	}
	return o.Object, nil
}

// Delete deletes an object and, in the background, what it owns.
func (c *Client) Delete(ctx context.Context, k Kind, namespace, name string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	background := metav1.DeletePropagationBackground
	return c.api.Resource(k).Namespace(namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background})
}

// jsonTypes is an object with the types that the API's objects have in Go.
func jsonTypes(o Object) Object {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err) // objects hold values of JSON only
	}
	var u unstructured.Unstructured
	if u.UnmarshalJSON(data) == nil {
		return u.Object
	}
	return o
}

// maxBody bounds an answer that is read whole.
const maxBody = 64 << 20

// Raw reads a path of the API as it is.
func (c *Client) Raw(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	in, err := c.open(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, maxBody))
}

// open sends a request to a path of the API and returns its body.
func (c *Client) open(ctx context.Context, method, path string, body []byte) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Base(), "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	reply, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode >= 300 {
		defer reply.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(reply.Body, 4096))
		return nil, statusError(reply.StatusCode, text)
	}
	return reply.Body, nil
}

// Base is the address of the API server.
func (c *Client) Base() string {
	host := c.Config.Host
	if !strings.Contains(host, "://") {
		scheme := "http://"
		if c.Config.TLSClientConfig.CAFile != "" || len(c.Config.TLSClientConfig.CAData) > 0 ||
			c.Config.TLSClientConfig.Insecure {
			scheme = "https://"
		}
		host = scheme + host
	}
	return host
}

// statusError is an answer of the API that is no success, with the reason that it gives.
func statusError(code int, text []byte) error {
	var status metav1.Status
	if json.Unmarshal(text, &status) == nil && status.Message != "" {
		status.Code = int32(code)
		return &apierrors.StatusError{ErrStatus: status}
	}
	message := strings.TrimSpace(string(text))
	if message == "" {
		message = http.StatusText(code)
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: int32(code),
		Reason: reasonOf(code), Message: message}}
}

func reasonOf(code int) metav1.StatusReason {
	switch code {
	case http.StatusNotFound:
		return metav1.StatusReasonNotFound
	case http.StatusForbidden:
		return metav1.StatusReasonForbidden
	case http.StatusUnauthorized:
		return metav1.StatusReasonUnauthorized
	}
	return metav1.StatusReasonUnknown
}

// Version is the version of the cluster, such as v1.34.0.
func (c *Client) Version(ctx context.Context) (git string, major, minor int, err error) {
	data, err := c.Raw(ctx, http.MethodGet, "/version", nil)
	if err != nil {
		return "", 0, 0, err
	}
	var v struct{ GitVersion, Major, Minor string }
	if err := json.Unmarshal(data, &v); err != nil {
		return "", 0, 0, fmt.Errorf("the version of the cluster cannot be read: %w", err)
	}
	_, errMajor := fmt.Sscanf(v.Major, "%d", &major)
	_, errMinor := fmt.Sscanf(v.Minor, "%d", &minor) // such as 27+
	return v.GitVersion, major, minor, errors.Join(errMajor, errMinor)
}

// Has reports whether the cluster has a kind.
func (c *Client) Has(ctx context.Context, k Kind) (bool, error) {
	data, err := c.Raw(ctx, http.MethodGet, "/apis/"+k.Group+"/"+k.Version, nil)
	if IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var list struct{ Resources []struct{ Name string } }
	if err := json.Unmarshal(data, &list); err != nil {
		return false, fmt.Errorf("the list of %s/%s cannot be read: %w", k.Group, k.Version, err)
	}
	for _, r := range list.Resources {
		if r.Name == k.Resource {
			return true, nil
		}
	}
	return false, nil
}

// May reports whether this account may do something to a kind in a namespace.
func (c *Client) May(ctx context.Context, namespace, verb string, k Kind, subresource string) (bool, error) {
	o, err := c.Create(ctx, AccessReviews, "", Object{"apiVersion": "authorization.k8s.io/v1",
		"kind": "SelfSubjectAccessReview", "spec": Object{"resourceAttributes": Object{"namespace": namespace,
			"verb": verb, "group": k.Group, "resource": k.Resource, "subresource": subresource}}})
	if err != nil {
		return false, err
	}
	status, _ := o["status"].(Object)
	allowed, _ := status["allowed"].(bool)
	return allowed, nil
}

// LogOptions says which lines of a log are read.
type LogOptions struct {
	Container string
	Follow    bool
	// Tail is the number of lines from the end; negative is all.
	Tail int
	// Previous reads the log of the container before its restart.
	Previous bool
}

// Logs reads the log of a container until its end, or that of the context.
func (c *Client) Logs(ctx context.Context, namespace, pod string, o LogOptions) (io.ReadCloser, error) {
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/%s/log?container=%s", namespace, pod, o.Container)
	if o.Follow {
		path += "&follow=true"
	}
	if o.Previous {
		path += "&previous=true"
	}
	if o.Tail >= 0 {
		path += fmt.Sprintf("&tailLines=%d", o.Tail)
	}
	return c.open(ctx, http.MethodGet, path, nil)
}

// IsUnreachable reports that no answer of the API came at all.
func IsUnreachable(err error) bool {
	var status apierrors.APIStatus
	var dns *net.DNSError
	var op *net.OpError
	return !errors.As(err, &status) && (errors.As(err, &dns) || errors.As(err, &op) ||
		errors.Is(err, context.DeadlineExceeded))
}
