package config

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"aiperf/internal/base/artifact"
)

// The environment variables that hold an API key where no flag gives one, the stronger one first.
const (
	ownKeyVariable    = "API_KEY" // behind EnvPrefix
	openAIKeyVariable = "OPENAI_API_KEY"
)

// maxKeyFile bounds the file of a key in bytes.
const maxKeyFile = 64 << 10

// Key is an API key and where it comes from.
type Key struct {
	Value string
	// Variable is the environment variable that holds it; empty for a flag.
	Variable string
	// Withheld reports that the key of OPENAI_API_KEY is not used: an address lies elsewhere and is not encrypted.
	Withheld bool
}

// FindKey is the API key for requests to some addresses: that of the flag, else AIPERF_API_KEY, else OPENAI_API_KEY.
// The last one is meant for other programs, too: it goes only to https addresses and to this machine.
func FindKey(flag string, urls []string, lookup Lookup) (Key, error) {
	if flag != "" {
		value, err := readKey(flag)
		return Key{Value: value}, err
	}
	if lookup == nil {
		return Key{}, nil
	}
	for _, variable := range []string{EnvPrefix + ownKeyVariable, openAIKeyVariable} {
		value, _ := lookup(variable)
		value = strings.TrimSpace(value)
		if value == "" {
			continue
		}
		key := Key{Value: value, Variable: variable}
		if strings.ContainsAny(value, "\r\n\x00") {
			return key, fmt.Errorf("environment variable %s: a key is one line", variable)
		}
		if variable == openAIKeyVariable {
			for _, u := range urls {
				if !confidential(u) {
					return Key{Variable: variable, Withheld: true}, nil
				}
			}
		}
		return key, nil
	}
	return Key{}, nil
}

// confidential reports whether what is sent to an address is encrypted or stays on this machine.
func confidential(text string) bool {
	u, err := url.Parse(withScheme(text))
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "https", "grpcs":
		return true
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// readKey is the key that --api-key gives: @FILE is what the file holds, @@KEY is a key that begins with @. Its errors
// repeat no key.
func readKey(flag string) (string, error) {
	path, isFile := strings.CutPrefix(flag, "@")
	switch {
	case !isFile:
		return flag, nil
	case strings.HasPrefix(path, "@"):
		return path, nil
	case path == "":
		return "", errors.New("@ needs the name of a file: --api-key @FILE")
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the key cannot be read: %w; a key that begins with @ is written @@…", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	key := strings.TrimSpace(strings.TrimPrefix(string(text), "\uFEFF"))
	switch {
	case err != nil:
		return "", fmt.Errorf("the key cannot be read: %w", err)
	case len(text) > maxKeyFile:
		return "", fmt.Errorf("%s is too large for a key: more than %d bytes", path, maxKeyFile)
	case key == "":
		return "", fmt.Errorf("%s is empty; it must hold the key", path)
	case strings.ContainsAny(key, "\r\n\x00"):
		return "", fmt.Errorf("%s holds several lines; it must hold the key alone", path)
	}
	return key, nil
}

// findKey sets the key that is sent.
func (d *draft) findKey() {
	if strings.ContainsAny(d.p.Text("api-key"), "\r\n\x00") {
		return // a fault of its own
	}
	flag := ""
	if d.given("api-key") {
		flag = d.p.Text("api-key")
	}
	if flag == "" && (d.signs() || d.authenticates()) {
		return
	}
	lookup := d.p.lookup
	if d.endpointType == "messages" { // the API of another provider
		lookup = without(lookup, openAIKeyVariable)
	}
	key, err := FindKey(flag, d.p.Texts("url"), lookup)
	switch {
	case err != nil && flag != "":
		d.fault("", "%s: %v", d.flag("api-key"), err)
	case err != nil:
		d.fault("", "%v", err)
	case key.Withheld:
		d.warn("The key in %s is not sent: a --url is neither https nor on this machine; --api-key or AIPERF_API_KEY "+
			"sends a key anywhere", key.Variable)
	case key.Variable != "":
		d.info("The API key is that of the environment variable %s", key.Variable)
	}
	d.apiKey = key.Value
}

// authenticates reports whether a header of the user's own carries a secret.
func (d *draft) authenticates() bool {
	for _, h := range d.p.Pairs("header") {
		if artifact.IsSensitiveName(h.Key) {
			return true
		}
	}
	return false
}

func without(lookup Lookup, hidden string) Lookup {
	return func(name string) (string, bool) {
		if name == hidden || lookup == nil {
			return "", false
		}
		return lookup(name)
	}
}
