package collect

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"aiperf/internal/base/pemfile"
)

// Limits of a listing of pods.
const (
	podsPerPage     = 500
	maxPodPageBytes = 64 << 20
	maxPods         = 100_000
)

// cluster is the API server of the cluster that the program runs in.
type cluster struct {
	base   string
	token  string
	client *http.Client
}

// newCluster reads the credentials that the cluster gave the program.
func newCluster(host, port, account string) (*cluster, error) {
	token, err := os.ReadFile(filepath.Join(account, "token"))
	if err != nil {
		return nil, fmt.Errorf("no service account token: %w", err)
	}
	roots, err := pemfile.Authorities(filepath.Join(account, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("no certificate of the cluster: %w", err)
	}
	return &cluster{
		base:  "https://" + net.JoinHostPort(host, port),
		token: strings.TrimSpace(string(token)),
		client: &http.Client{
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
			// The token is for this server alone.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func (k *cluster) close() { k.client.CloseIdleConnections() }

// pod is what is read of a pod.
type pod struct {
	Metadata struct {
		Labels, Annotations map[string]string
	}
	Spec struct {
		Containers []container
	}
	Status struct {
		PodIP string
	}
}

type container struct {
	Image string
	Ports []struct {
		Name          string
		ContainerPort int
	}
}

type podList struct {
	Metadata struct{ Continue string }
	Items    []pod
}

// runningPods lists the running pods of a namespace, page by page.
func (k *cluster) runningPods(ctx context.Context, namespace, labelSelector string) ([]pod, error) {
	var pods []pod
	for token := ""; ; {
		page, err := k.podPage(ctx, namespace, labelSelector, token)
		if err != nil {
			return nil, err
		}
		pods = append(pods, page.Items...)
		if token = page.Metadata.Continue; token == "" {
			return pods, nil
		}
		if len(pods) > maxPods || len(page.Items) == 0 {
			return nil, fmt.Errorf("the list of pods does not end after %d; set "+
				"server_metrics.discovery.label_selector", len(pods))
		}
	}
}

// podPage reads one page of running pods; token continues a list. Pages bound the memory here and the load of the API
// server.
func (k *cluster) podPage(ctx context.Context, namespace, labelSelector, token string) (*podList, error) {
	query := url.Values{"fieldSelector": {"status.phase=Running"}, "limit": {strconv.Itoa(podsPerPage)}}
	if labelSelector != "" {
		query.Set("labelSelector", labelSelector)
	}
	if token != "" {
		query.Set("continue", token)
	}
	path := "/api/v1/namespaces/" + url.PathEscape(namespace) + "/pods"
	if namespace == allNamespaces {
		path = "/api/v1/pods"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.base+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+k.token)
	req.Header.Set("Accept", "application/json")
	resp, err := k.client.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusForbidden:
		return nil, errors.New(forbidden(namespace))
	default:
		return nil, fmt.Errorf("the API server answered with status %d %s", resp.StatusCode,
			http.StatusText(resp.StatusCode))
	}
	var list podList
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxPodPageBytes)).Decode(&list); err != nil {
		return nil, fmt.Errorf("the API server's list of pods cannot be read: %w", err)
	}
	return &list, nil
}

// withoutURL leaves out what an error of the HTTP client says about its request: the query is long and says
// nothing to the user.
func withoutURL(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the API server cannot be asked: %w", of.Err)
	}
	return err
}

// forbidden returns what to do when pods may not be listed.
func forbidden(namespace string) string {
	if namespace == allNamespaces {
		return "the service account may not list pods in all namespaces (HTTP 403); give it a ClusterRole with the " +
			"verb list on pods, or set server_metrics.discovery.namespace"
	}
	return fmt.Sprintf("the service account may not list pods in namespace '%s' (HTTP 403); give it a Role there "+
		"with the verb list on pods, or set server_metrics.discovery.mode to disabled", namespace)
}
