package run

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestUnknownModelNamesThoseOfTheServer: the note is in the report of the run, bounded by the server's list.
func TestUnknownModelNamesThoseOfTheServer(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/v1/models" {
			io.WriteString(w, `{"object":"list","data":[{"id":"other"},{"id":"another"}]}`)
			return
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":{"message":"The model `+"`m`"+` does not exist."}}`)
	}))
	defer s.Close()
	cfg := resolve(t, t.TempDir(), s.URL, "--request-count", "2")
	out, err := execute(t, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(out.Console.Notes, "\n"); !strings.Contains(notes,
		s.URL+"/v1/models offers 2 models: other, another") {
		t.Errorf("notes %q", notes)
	}
	if len(out.Hints) != 1 || !strings.Contains(out.Hints[0].Try, "--model") {
		t.Errorf("hints %v", out.Hints)
	}
	if got := out.Result.Errors[0].Error.Details; got != "Retry-After: 7" {
		t.Errorf("details %q", got)
	}
}
