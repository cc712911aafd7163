package config

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"aiperf/internal/base/artifact"
)

// SecretsOf are the secrets among the arguments of a command and in the environment. It is for messages
// about arguments that could not be read.
func SecretsOf(args []string, lookup Lookup) []string {
	var c collector
	var o *Option // whose value may come next
	for _, arg := range args {
		if looksLikeFlag(arg) {
			name, value, inline := strings.Cut(arg, "=")
			if found, ok := findOption(name); ok {
				o = &found
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
	c.environment(lookup)
	return c.list
}

// collector gathers secrets.
type collector struct{ list []string }

func (c *collector) add(values ...string) {
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			c.list = append(c.list, v)
		}
	}
}

// argument takes what a command line gives to an option, nil for none.
func (c *collector) argument(o *Option, value string) {
	c.address(value)
	if o == nil {
		return
	}
	switch {
	case o.Secret:
		c.add(value)
	case o.Type == Headers || o.Type == Pairs:
		s, err := parseTokens(*o, []string{value})
		if err != nil {
			return // messages do not repeat it
		}
		c.setting(o, s.value)
	}
}

// settings takes every option that was set.
func (c *collector) settings(p *Parsed) {
	for _, o := range table().options {
		if s := p.settings[o.Name]; s != nil {
			c.setting(&o, s.value)
		}
	}
}

func (c *collector) setting(o *Option, value any) {
	switch v := value.(type) {
	case string:
		if c.address(v); o.Secret {
			c.add(v)
		}
	case []string:
		for _, text := range v {
			c.address(text)
		}
	case Object:
		if o.Type != Headers {
			c.members(v)
			return
		}
		for _, m := range v {
			text, _ := m.Value.(string)
			c.header(m.Key, text)
		}
	}
}

// header takes the value of a sensitive header: as a whole, without its scheme such as Bearer, the user
// and the password of Basic, and each value of a cookie.
func (c *collector) header(name, value string) {
	if !artifact.IsSensitiveName(name) {
		c.address(value)
		return
	}
	c.add(value)
	if scheme, rest, ok := strings.Cut(strings.TrimSpace(value), " "); ok && !strings.ContainsAny(scheme, "=;,") {
		rest = strings.TrimSpace(rest)
		c.add(rest)
		if plain, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "basic") {
			_, password, _ := strings.Cut(string(plain), ":")
			c.add(string(plain), password)
		}
	}
	if strings.Contains(strings.ToLower(name), "cookie") {
		for part := range strings.SplitSeq(value, ";") {
			if _, v, ok := strings.Cut(part, "="); ok {
				c.add(v, strings.Trim(strings.TrimSpace(v), `"`))
			}
		}
	}
}

// members takes what stands under sensitive names in a JSON object, at any depth.
func (c *collector) members(o Object) {
	eachSensitive(o, func(_ string, v any) { c.scalars(v) })
}

// eachSensitive calls f for every member with a sensitive name.
func eachSensitive(v any, f func(name string, value any)) {
	switch v := v.(type) {
	case Object:
		for _, m := range v {
			if artifact.IsSensitiveName(m.Key) {
				f(m.Key, m.Value)
			} else {
				eachSensitive(m.Value, f)
			}
		}
	case []any:
		for _, item := range v {
			eachSensitive(item, f)
		}
	}
}

// scalars takes the texts and numbers of a JSON value.
func (c *collector) scalars(v any) {
	switch v := v.(type) {
	case Object:
		for _, m := range v {
			c.scalars(m.Value)
		}
	case []any:
		for _, item := range v {
			c.scalars(item)
		}
	case string:
		c.add(v)
	case int64, float64, json.Number:
		if b, err := artifact.AppendJSON(nil, v); err == nil {
			c.add(string(b))
		}
	}
}

// address takes the credentials in an address: the user information and the sensitive parameters, as they
// are written and decoded.
func (c *collector) address(text string) {
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
			c.add(info, password, plain, plainUser+":"+plain)
		} else { // a token in the place of the user
			c.add(user, unescape(user), unescape(user)+":")
		}
	}
	query, _, _ = strings.Cut(query, "#")
	for _, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, v, _ := strings.Cut(pair, "=")
		if !artifact.IsSensitiveName(unescape(name)) {
			continue
		}
		c.add(v, unescape(v))
		if plain, err := url.QueryUnescape(v); err == nil {
			c.add(plain)
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
		EnvPrefix + ownKeyVariable, openAIKeyVariable, "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "MLFLOW_TRACKING_TOKEN",
		"MLFLOW_TRACKING_PASSWORD",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
	}
	addressVariables = []string{
		"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HF_ENDPOINT",
		"MLFLOW_TRACKING_URI",
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
	}
	headerVariables = []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_METRICS_HEADERS"}
)

func (c *collector) environment(lookup Lookup) {
	if lookup == nil {
		return
	}
	get := func(name string) string { v, _ := lookup(name); return v }
	for _, name := range secretVariables {
		c.add(get(name))
	}
	for _, name := range addressVariables {
		c.address(get(name))
	}
	for _, name := range headerVariables {
		for pair := range strings.SplitSeq(get(name), ",") {
			if header, value, ok := strings.Cut(pair, "="); ok {
				c.header(strings.TrimSpace(header), unescape(value))
			}
		}
	}
}
