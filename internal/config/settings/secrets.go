package settings

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/env"
	"aiperf/internal/config/option"
)

// SecretsOf are the secrets among the arguments of a command and in the environment. It is for messages
// about arguments that could not be read.
func SecretsOf(args []string, lookup env.Lookup) []string {
	var c Secrets
	var o *option.Option // whose value may come next
	for _, arg := range args {
		if looksLikeFlag(arg) {
			name, value, inline := strings.Cut(arg, "=")
			if found, ok := option.Find(name); ok {
				o = found
			} else {
				o = nil
			}
			if inline {
				c.argument(o, value)
			}
			continue
		}
		c.argument(o, arg)
	}
	c.Environment(lookup)
	return c.List
}

// Secrets gathers secrets.
type Secrets struct{ List []string }

// Add takes values that are secret as a whole.
func (c *Secrets) Add(values ...string) {
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			c.List = append(c.List, v)
		}
	}
}

// argument takes what a command line gives to an option, nil for none.
func (c *Secrets) argument(o *option.Option, value string) {
	c.Address(value)
	if o == nil {
		return
	}
	switch {
	case o.Secret:
		c.Add(value)
	case o.Type == option.Headers || o.Type == option.URLHeaders || o.Type == option.Pairs:
		value, _, err := o.Parse([]string{value})
		if err != nil {
			return // messages do not repeat it
		}
		c.setting(o, value)
	}
}

// Settings takes every option that was set.
func (c *Secrets) Settings(p *Settings) {
	for f := range p.Fields() {
		if f.IsSet() {
			c.setting(f.Row(), f.Value())
		}
	}
}

func (c *Secrets) setting(o *option.Option, value any) {
	switch v := value.(type) {
	case string:
		if c.Address(v); o.Secret {
			c.Add(v)
		}
	case []string:
		for _, text := range v {
			if o.Type == option.URLHeaders {
				c.urlHeader(text)
				continue
			}
			c.Address(text)
		}
	case artifact.Object:
		if o.Type != option.Headers {
			c.Members(v)
			return
		}
		for _, m := range v {
			text, _ := m.Value.(string)
			c.Header(m.Key, text)
		}
	}
}

func (c *Secrets) urlHeader(text string) {
	if h, err := option.ParseURLHeader(text); err == nil {
		c.Address(h.At)
		c.Header(h.Name, h.Value)
	}
}

// Header takes the value of a sensitive header: as a whole, without its scheme such as Bearer, the user
// and the password of Basic, and each value of a cookie.
func (c *Secrets) Header(name, value string) {
	if !artifact.IsSensitiveName(name) {
		c.Address(value)
		return
	}
	c.Add(value)
	if scheme, rest, ok := strings.Cut(strings.TrimSpace(value), " "); ok && !strings.ContainsAny(scheme, "=;,") {
		rest = strings.TrimSpace(rest)
		c.Add(rest)
		if plain, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "basic") {
			_, password, _ := strings.Cut(string(plain), ":")
			c.Add(string(plain), password)
		}
	}
	if strings.Contains(strings.ToLower(name), "cookie") {
		for part := range strings.SplitSeq(value, ";") {
			if _, v, ok := strings.Cut(part, "="); ok {
				c.Add(v, strings.Trim(strings.TrimSpace(v), `"`))
			}
		}
	}
}

// Members takes the values under sensitive names in a JSON object, at any depth.
func (c *Secrets) Members(o artifact.Object) {
	EachSensitive(o, func(_ string, v any) { c.scalars(v) })
}

// EachSensitive calls f for every member with a sensitive name.
func EachSensitive(v any, f func(name string, value any)) {
	switch v := v.(type) {
	case artifact.Object:
		for _, m := range v {
			if artifact.IsSensitiveName(m.Key) {
				f(m.Key, m.Value)
			} else {
				EachSensitive(m.Value, f)
			}
		}
	case []any:
		for _, item := range v {
			EachSensitive(item, f)
		}
	}
}

// scalars takes the texts and numbers of a JSON value.
func (c *Secrets) scalars(v any) {
	switch v := v.(type) {
	case artifact.Object:
		for _, m := range v {
			c.scalars(m.Value)
		}
	case []any:
		for _, item := range v {
			c.scalars(item)
		}
	case string:
		c.Add(v)
	case int64, float64, json.Number:
		if b, err := artifact.AppendJSON(nil, v); err == nil {
			c.Add(string(b))
		}
	}
}

// Address takes the credentials in an address: the user information and the sensitive parameters, as they
// are written and decoded.
func (c *Secrets) Address(text string) {
	if !strings.ContainsAny(text, "@?") {
		return
	}
	text = strings.TrimSpace(text)
	rest := text
	if i := strings.Index(text, "://"); i >= 0 {
		rest = text[i+len("://"):]
	} else if strings.ContainsAny(text, " \t\n") {
		return // a text, not an address
	}
	head, query, _ := strings.Cut(rest, "?")
	authority, _, _ := strings.Cut(head, "/")
	if at := strings.LastIndexByte(authority, '@'); at > 0 {
		info := authority[:at]
		user, password, both := strings.Cut(info, ":")
		if both {
			plainUser, plain := unescape(user), unescape(password)
			c.Add(info, password, plain, plainUser+":"+plain)
		} else { // a token in the place of the user
			c.Add(user, unescape(user), unescape(user)+":")
		}
	}
	query, _, _ = strings.Cut(query, "#")
	for _, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, v, _ := strings.Cut(pair, "=")
		if !artifact.IsSensitiveName(unescape(name)) {
			continue
		}
		c.Add(v, unescape(v))
		if plain, err := url.QueryUnescape(v); err == nil {
			c.Add(plain)
		}
	}
}

func unescape(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// secretVariables are the environment variables whose value is a secret; addressVariables may hold the
// credentials of an address, and headerVariables a list of name=value.
var (
	secretVariables = []string{
		option.EnvPrefix + env.OwnKeyVariable, env.OpenAIKeyVariable, "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN",
		"MLFLOW_TRACKING_TOKEN",
		"MLFLOW_TRACKING_PASSWORD",
		"WANDB_API_KEY",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
	}
	addressVariables = []string{
		"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HF_ENDPOINT",
		"MLFLOW_TRACKING_URI",
		"WANDB_BASE_URL",
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
	}
	headerVariables = []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_METRICS_HEADERS"}
)

// Environment takes the credentials in the variables that the program reads.
func (c *Secrets) Environment(lookup env.Lookup) {
	if lookup == nil {
		return
	}
	get := func(name string) string { v, _ := lookup(name); return v }
	for _, name := range secretVariables {
		c.Add(get(name))
	}
	for _, name := range addressVariables {
		c.Address(get(name))
	}
	for _, name := range headerVariables {
		for pair := range strings.SplitSeq(get(name), ",") {
			if header, value, ok := strings.Cut(pair, "="); ok {
				c.Header(strings.TrimSpace(header), unescape(value))
			}
		}
	}
}
