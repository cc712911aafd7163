package resultsserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Reader reads stored results from a results server.
type Reader struct{ base, token string }

// NewReader returns a reader of the server at an address, which sends a token unless that is "".
func NewReader(base, token string) *Reader { return &Reader{strings.TrimSuffix(base, "/"), token} }

// maxSummary bounds a summary, in bytes.
const maxSummary = 64 << 20

// Summary returns the summary of a run of a job.
func (r *Reader) Summary(ctx context.Context, namespace, job, epoch string) ([]byte, error) {
	address := fmt.Sprintf("%s/api/v1/results/%s/%s/runs/%s/profile_export", r.base, url.PathEscape(namespace),
		url.PathEscape(job), url.PathEscape(epoch))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the results server answers %s", reply.Status)
	}
	return io.ReadAll(io.LimitReader(reply.Body, maxSummary))
}
