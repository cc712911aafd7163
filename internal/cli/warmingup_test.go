package cli_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdWarmingUp starts a server that is not ready at first, however late it is asked: warmingup VAR URL.
func cmdWarmingUp(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: warmingup VAR URL")
	}
	behind, err := url.Parse(args[1])
	ts.Check(err)
	const refusals = 3
	var mu sync.Mutex
	asked := map[string]int{}
	ready := httputil.NewSingleHostReverseProxy(behind)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		early := asked[r.URL.Path] <= refusals
		mu.Unlock()
		if early {
			http.Error(w, "warming up", http.StatusServiceUnavailable)
			return
		}
		ready.ServeHTTP(w, r)
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}
