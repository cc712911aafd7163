package wandb

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"aiperf/internal/base/artifact"
)

// The variables, which are those of the service's own client.
const (
	variableKey    = "WANDB_API_KEY"
	variableURL    = "WANDB_BASE_URL"
	variableEntity = "WANDB_ENTITY"
	variableMode   = "WANDB_MODE"
	variableNetrc  = "NETRC"
)

// hostedURL is the API of the hosted service, hostedApp are its pages.
const (
	hostedURL = "https://api.wandb.ai"
	hostedApp = "https://wandb.ai"
)

// Environment is what the environment says of the service.
type Environment struct {
	// Disabled reports that nothing is to be uploaded.
	Disabled bool
	// Offline reports that runs are written for "wandb sync" instead.
	Offline bool
	// Entity is "" where the environment names none.
	Entity string
	base   *url.URL
	key    string
}

// ReadEnvironment reads the variables, and the key from ~/.netrc where no variable holds it. Its error names the
// variable and never the key.
func ReadEnvironment(lookup func(string) (string, bool)) (*Environment, error) {
	get := func(name string) string { v, _ := lookup(name); return strings.TrimSpace(v) }
	e := &Environment{Entity: get(variableEntity)}
	switch mode := get(variableMode); mode {
	case "", "online":
	case "disabled":
		e.Disabled = true
		return e, nil
	case "offline", "dryrun":
		e.Offline = true
		return e, nil
	default:
		return nil, fmt.Errorf("environment variable %s: %q is not online, offline or disabled", variableMode, mode)
	}
	address := get(variableURL)
	if address == "" {
		address = hostedURL
	}
	base, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" ||
		base.User != nil {
		return nil, fmt.Errorf("environment variable %s %s: write the address as https://host or http://host:port",
			variableURL, artifact.RedactAddress(address))
	}
	e.base = base
	if e.key = get(variableKey); e.key == "" {
		if e.key, err = netrcKey(get(variableNetrc), base.Hostname()); err != nil {
			return nil, err
		}
	}
	if e.key == "" {
		return nil, fmt.Errorf("--wandb-project needs a key for %s: set %s, or write it to ~/.netrc with \"wandb login\"; "+
			"%s=disabled uploads nothing", e.address(), variableKey, variableMode)
	}
	if strings.ContainsAny(e.key, " \t\r\n") {
		return nil, errors.New("environment variable " + variableKey + " contains spaces")
	}
	return e, nil
}

// address returns the address of the API.
func (e *Environment) address() string { return e.base.String() }

// app returns the address of the pages.
func (e *Environment) app() string {
	if e.address() == hostedURL {
		return hostedApp
	}
	return e.address()
}

// authorization returns the credentials of the Authorization header, encoded.
func (e *Environment) authorization() string {
	return base64.StdEncoding.EncodeToString([]byte("api:" + e.key))
}

// maxNetrc bounds the file of keys that is read.
const maxNetrc = 1 << 20

// netrcKey returns the password of a host in a file of keys, "" where there is none. The path "" is that of the user.
func netrcKey(path, host string) (string, error) {
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", nil // there is no such file then
		}
		path = filepath.Join(home, ".netrc")
		if runtime.GOOS == "windows" {
			if _, err := os.Stat(path); err != nil {
				path = filepath.Join(home, "_netrc")
			}
		}
	}
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err == nil && info.Size() > maxNetrc {
		err = errors.New("it is larger than 1 MiB")
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return "", fmt.Errorf("cannot read the key for Weights & Biases from %s: %w; set %s", path, err, variableKey)
	}
	return passwordOf(string(text), host), nil
}

// passwordOf returns the password of the first entry for a host.
func passwordOf(netrc, host string) string {
	var words []string
	for line := range strings.Lines(netrc) {
		line, _, _ = strings.Cut(" "+line, " #")
		words = append(words, strings.Fields(line)...)
	}
	found := false
	for i := 0; i+1 < len(words); i++ {
		switch words[i] {
		case "machine":
			i++
			found = words[i] == host
		case "login", "account":
			i++
		case "password":
			i++
			if found {
				return words[i]
			}
		}
	}
	return ""
}
