package control

import (
	"context"
	"net/http"
	"time"

	"aiperf/internal/wire/client"
	"aiperf/internal/wire/oip"
)

// saysReady asks a server of the open inference protocol over gRPC whether it and its models are ready.
func (w *waiting) saysReady(ctx context.Context, left time.Duration) (verdict, string) {
	begun := time.Now()
	v, why := w.isReady(ctx, oip.ServerReady, nil, left, "the server says that it is not ready")
	for _, model := range w.r.Models {
		if v != isReady {
			break
		}
		v, why = w.isReady(ctx, oip.ModelReady, oip.AppendModelName(nil, model), left-time.Since(begun),
			"the server says that the model "+model+" is not ready")
	}
	return v, why
}

// isReady makes one call; not is the reason if the reply is negative.
func (w *waiting) isReady(ctx context.Context, call string, message []byte, left time.Duration, not string) (verdict,
	string) {
	address := w.origin + call
	got := w.send(ctx, &client.Request{URL: address, Headers: w.Headers(address, false, ""), Body: message},
		min(left, listLimit))
	switch {
	case got.err == nil && got.status == http.StatusNotImplemented:
		return noList, ""
	case got.err == nil && got.status == http.StatusNotFound:
		return notYet, shown(address) + " returned " + got.String()
	case !got.ok():
		return w.judge(&got, address)
	}
	ready, err := oip.ParseReady([]byte(got.body))
	switch {
	case err != nil:
		return notYet, shown(address) + ": " + err.Error()
	case !ready:
		return notYet, not
	}
	return isReady, ""
}
