package config

import (
	"net/url"
	"regexp"
	"strings"

	"aiperf/internal/artifact"
)

// IsSensitiveKey tells whether a body field of that name holds a credential. Plurals such as
// max_tokens and special tokens such as eos_token are not credentials.
func IsSensitiveKey(name string) bool {
	key := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_")
	switch key {
	case "authorization", "proxy_authorization", "api_key", "apikey", "token", "access_token", "auth_token",
		"refresh_token", "bearer", "secret", "secret_key", "client_secret", "password", "passwd", "credential", "credentials":
		return true
	}
	for _, suffix := range []string{"_api_key", "_apikey", "_secret", "_secret_key", "_password", "_access_token", "_auth_token", "_credentials"} {
		if strings.HasSuffix(key, suffix) {
			return true
		}
	}
	return artifact.IsCredentialHeader(name)
}

var (
	userinfo     = regexp.MustCompile(`://[^/?#\s]*@`)
	bareUserinfo = regexp.MustCompile(`^[^/?#\s]*@`)
)

// RedactURL hides the user information of every URL in a text.
func RedactURL(text string) string {
	return redactQuery(userinfo.ReplaceAllString(text, "://"+artifact.Redacted+"@"))
}

var queryItem = regexp.MustCompile(`([?&][^=&#?\s"']+=)([^&#\s"']+)`)

// isSecretOfQuery tells whether a parameter of a URL is a credential: some services take their key so.
func isSecretOfQuery(name string) bool {
	switch strings.ToLower(name) {
	case "key", "sig", "signature", "subscription-key", "x-amz-signature", "x-amz-credential":
		return true
	}
	return IsSensitiveKey(name)
}

// redactQuery hides the credentials among the parameters of a URL.
func redactQuery(text string) string {
	if !strings.Contains(text, "?") {
		return text
	}
	return queryItem.ReplaceAllStringFunc(text, func(item string) string {
		name, _, _ := strings.Cut(item[1:], "=")
		if isSecretOfQuery(name) {
			return item[:len(name)+2] + artifact.Redacted
		}
		return item
	})
}

// QuerySecrets are the credentials among the parameters of a URL.
func QuerySecrets(u *url.URL) []string {
	var list []string
	for name, values := range u.Query() {
		if isSecretOfQuery(name) {
			list = append(list, values...)
		}
	}
	return list
}

// redactAddress does the same for the value of a flag that takes an address with or without a scheme.
func redactAddress(text string) string {
	if strings.Contains(text, "://") {
		return RedactURL(text)
	}
	return redactQuery(bareUserinfo.ReplaceAllString(text, artifact.Redacted+"@"))
}

// redactValue hides credentials in a JSON value.
func redactValue(value any) any {
	switch v := value.(type) {
	case Object:
		out := make(Object, len(v))
		for i, m := range v {
			out[i] = Member{Key: m.Key, Value: redactValue(m.Value)}
			if IsSensitiveKey(m.Key) {
				out[i].Value = artifact.Redacted
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = redactValue(v[i])
		}
		return out
	case string:
		return RedactURL(v)
	default:
		return value
	}
}
