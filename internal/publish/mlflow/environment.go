package mlflow

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"aiperf/internal/base/pemfile"
)

// Environment holds the variables of MLflow's own client: credentials and TLS.
type Environment struct {
	username, password, token string
	tls                       tls.Config
}

// The variables, which are those of MLflow's own client.
const (
	variableUser     = "MLFLOW_TRACKING_USERNAME"
	variablePassword = "MLFLOW_TRACKING_PASSWORD"
	variableToken    = "MLFLOW_TRACKING_TOKEN"
	variableInsecure = "MLFLOW_TRACKING_INSECURE_TLS"
	variableTrust    = "MLFLOW_TRACKING_SERVER_CERT_PATH"
	variableIdentity = "MLFLOW_TRACKING_CLIENT_CERT_PATH"
)

// ReadEnvironment reads the variables. Its error names the variable.
func ReadEnvironment(lookup func(string) (string, bool)) (*Environment, error) {
	get := func(name string) string { v, _ := lookup(name); return strings.TrimSpace(v) }
	e := &Environment{username: get(variableUser), password: get(variablePassword), token: get(variableToken)}
	switch v := get(variableInsecure); strings.ToLower(v) {
	case "", "false", "0", "no":
	case "true", "1", "yes":
		e.tls.InsecureSkipVerify = true
	default:
		return nil, fmt.Errorf("environment variable %s: %q is neither true nor false", variableInsecure, v)
	}
	if file := get(variableTrust); file != "" {
		if e.tls.InsecureSkipVerify {
			return nil, fmt.Errorf("environment variables %s and %s cannot be used together", variableInsecure,
				variableTrust)
		}
		var err error
		if e.tls.RootCAs, err = pemfile.Authorities(file); err != nil {
			return nil, fmt.Errorf("environment variable %s: %w", variableTrust, err)
		}
	}
	if file := get(variableIdentity); file != "" {
		pair, err := tls.LoadX509KeyPair(file, file)
		if err != nil {
			return nil, fmt.Errorf("environment variable %s: %w; the file must contain a certificate and its key in "+
				"PEM format", variableIdentity, err)
		}
		e.tls.Certificates = []tls.Certificate{pair}
	}
	return e, e.check()
}

// User returns the name of the user on the server, "" if there is none in the environment.
func (e *Environment) User() string { return e.username }

// check rejects what is not valid in a header; the error does not repeat it.
func (e *Environment) check() error {
	for name, v := range map[string]string{variableUser: e.username, variablePassword: e.password,
		variableToken: e.token} {
		if strings.ContainsAny(v, "\r\n") {
			return fmt.Errorf("environment variable %s contains a line break", name)
		}
	}
	if e.password != "" && e.username == "" {
		return errors.New("environment variable " + variablePassword + " needs " + variableUser)
	}
	return nil
}

// authorization returns the Authorization header; user information of the address has priority, as with MLflow's own
// client.
func (e *Environment) authorization(u *url.URL) string {
	basic := func(user, password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	switch {
	case u.User != nil:
		password, _ := u.User.Password()
		return basic(u.User.Username(), password)
	case e.username != "" && e.password != "":
		return basic(e.username, e.password)
	case e.token != "":
		return "Bearer " + e.token
	}
	return ""
}

// secrets returns the values that must not be shown.
func (e *Environment) secrets(u *url.URL) []string {
	list := []string{e.password, e.token}
	if u.User != nil {
		password, _ := u.User.Password()
		list = append(list, password)
	}
	if _, encoded, found := strings.Cut(e.authorization(u), " "); found {
		list = append(list, encoded)
	}
	return list
}

func (e *Environment) transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = e.tls.Clone()
	return t
}
