package config

import (
	"regexp"
	"slices"
	"strings"
)

// Redacted stands where a secret was.
const Redacted = "<redacted>"

// SensitiveHeaders are the names, in lower case, of headers whose values are secrets.
func SensitiveHeaders() []string {
	return []string{
		"authorization", "proxy-authorization", "x-api-key", "api-key", "ocp-apim-subscription-key",
		"x-goog-api-key", "x-functions-key", "aeg-sas-key", "x-amz-security-token",
	}
}

// IsSensitiveHeader tells whether a header's value is a secret.
func IsSensitiveHeader(name string) bool {
	return slices.Contains(SensitiveHeaders(), strings.ToLower(strings.TrimSpace(name)))
}

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
	return IsSensitiveHeader(name)
}

var (
	userinfo     = regexp.MustCompile(`://[^/?#\s]*@`)
	bareUserinfo = regexp.MustCompile(`^[^/?#\s]*@`)
)

// RedactURL hides the user information of every URL in a text.
func RedactURL(text string) string {
	return userinfo.ReplaceAllString(text, "://"+Redacted+"@")
}

// redactAddress does the same for the value of a flag that takes an address with or without a scheme.
func redactAddress(text string) string {
	if strings.Contains(text, "://") {
		return RedactURL(text)
	}
	return bareUserinfo.ReplaceAllString(text, Redacted+"@")
}

// redactValue hides credentials in a JSON value.
func redactValue(value any) any {
	switch v := value.(type) {
	case Object:
		out := make(Object, len(v))
		for i, m := range v {
			out[i] = Member{Key: m.Key, Value: redactValue(m.Value)}
			if IsSensitiveKey(m.Key) {
				out[i].Value = Redacted
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
