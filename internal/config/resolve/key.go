package resolve

import (
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/env"
	"aiperf/internal/config/parse"
)

// findKey sets the key that is sent.
func (ep *endpoint) findKey() {
	if strings.ContainsAny(ep.p.APIKey.Get(), "\r\n\x00") {
		return // a fault of its own
	}
	flag := ""
	if ep.p.APIKey.Given() {
		flag = ep.p.APIKey.Get()
	}
	if flag == "" && (ep.signs() || ep.authenticates()) {
		return
	}
	lookup := ep.p.Environ
	if ep.endpointType == "messages" { // the API of another provider
		lookup = without(lookup, env.OpenAIKeyVariable)
	}
	key, err := parse.FindKey(flag, ep.p.URL.Get(), lookup)
	switch {
	case err != nil && flag != "":
		ep.fault("", "%s: %v", ep.p.APIKey.Flag(), err)
	case err != nil:
		ep.fault("", "%v", err)
	case key.Withheld:
		ep.warn("The key in %s is not sent: a --url is neither https nor on this machine; --api-key or AIPERF_API_KEY "+
			"sends a key anywhere", key.Variable)
	case key.Variable != "":
		ep.info("The API key is taken from the environment variable %s", key.Variable)
	}
	ep.apiKey = key.Value
}

// authenticates reports whether a header of the user's own carries a secret.
func (ep *endpoint) authenticates() bool {
	for _, h := range ep.p.Header.Get() {
		if artifact.IsSensitiveName(h.Key) {
			return true
		}
	}
	return false
}

func without(lookup env.Lookup, hidden string) env.Lookup {
	return func(name string) (string, bool) {
		if name == hidden || lookup == nil {
			return "", false
		}
		return lookup(name)
	}
}
