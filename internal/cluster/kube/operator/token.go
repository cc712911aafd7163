package operator

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"aiperf/internal/base/clock"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

// tokenWait bounds the time in which the secret of the results server is read or made.
const tokenWait = 30 * time.Second

// ResultsToken returns the token of the results server: what the secret crd.ResultsSecret of the operator's namespace
// holds. Where there is none it is made, so that who may read secrets there may read results.
func ResultsToken(ctx context.Context, c dynamic.Interface, namespace string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, tokenWait)
	defer cancel()
	secrets := c.Resource(client.Secrets).Namespace(namespace)
	for {
		u, err := secrets.Get(ctx, crd.ResultsSecret, metav1.GetOptions{})
		if err == nil {
			return tokenOf(u)
		}
		if apierrors.IsNotFound(err) {
			token := rand.Text()
			_, err = secrets.Create(ctx, &unstructured.Unstructured{Object: crd.Object{"apiVersion": "v1", "kind": "Secret",
				"metadata": crd.Object{"name": crd.ResultsSecret, "namespace": namespace,
					"labels": crd.Object{crd.LabelApp: crd.AppName}},
				"type": "Opaque", "data": crd.Object{
					crd.TokenKey: base64.StdEncoding.EncodeToString([]byte(token))},
			}}, metav1.CreateOptions{})
			if err == nil {
				return token, nil
			}
		}
		// Another replica was faster, or the API server is not there yet.
		if apierrors.IsForbidden(err) || ctx.Err() != nil {
			return "", fmt.Errorf("the secret %s/%s with the token of the results server: %w", namespace,
				crd.ResultsSecret, err)
		}
		clock.Wait(ctx, time.Second)
	}
}

func tokenOf(u *unstructured.Unstructured) (string, error) {
	encoded, _, _ := unstructured.NestedString(u.Object, "data", crd.TokenKey)
	token, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(token) == 0 {
		return "", fmt.Errorf("the secret %s/%s has no key %s: write the token of the results server into it, or delete it",
			u.GetNamespace(), u.GetName(), crd.TokenKey)
	}
	return string(token), nil
}

// NamespaceToken returns the token with which the stored results of one namespace can be read, "" where all can be read
// without one. The controllers of sweeps get it.
func NamespaceToken(token, namespace string) string {
	if token == "" {
		return ""
	}
	h := hmac.New(sha256.New, []byte(token))
	_, _ = h.Write([]byte("namespace/" + namespace))
	return hex.EncodeToString(h.Sum(nil))
}
