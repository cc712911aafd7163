package settings

import (
	"encoding/json"
	"fmt"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/pattern"
	"aiperf/internal/config/option"
)

// CommandLine is the recorded form of a command: every argument coerced like the value of a key:value
// item, values quoted so that a shell reads the line back, secrets replaced. The arguments are those
// behind the sub-command.
func CommandLine(command string, args []string) string {
	parts := []string{"aiperf", command}
	var o *option.Option // the option whose value may come next
	for _, arg := range args {
		if looksLikeFlag(arg) || arg == "--" {
			part, next := recordFlag(arg)
			parts, o = append(parts, part), next
			continue
		}
		parts = append(parts, recordValue(o, arg))
		if o != nil && o.Arity != option.Multi {
			o = nil
		}
	}
	return strings.Join(parts, " ")
}

// recordFlag writes a flag, with its value if it has one inline, and returns the option that takes
// the arguments behind it.
func recordFlag(arg string) (string, *option.Option) {
	name, value, inline := strings.Cut(arg, "=")
	o, ok := option.Find(name)
	if !ok {
		if inline {
			return name + "=" + shellWord(artifact.RedactURLs(value)), nil
		}
		return shellWord(artifact.RedactURLs(arg)), nil
	}
	if inline {
		redacted := redactArgument(o, value)
		if redacted == value {
			value = shellWord(value)
		} else {
			value = quote(redacted)
		}
		arg = name + "=" + value
		if o.Arity != option.Multi {
			return arg, nil
		}
	}
	if o.Type == option.Bool {
		return arg, nil
	}
	return arg, o
}

// recordValue writes an argument that is not a flag.
func recordValue(o *option.Option, arg string) string {
	if redacted := redactArgument(o, arg); redacted != arg {
		return quote(redacted)
	}
	switch v := option.Coerce(arg).(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return fmt.Sprint(v)
	case json.Number:
		return v.String()
	case float64:
		return option.FormatFloat(v)
	default:
		return quote(arg)
	}
}

// redactArgument hides what is secret in the value of an option (nil if it belongs to none).
func redactArgument(o *option.Option, arg string) string {
	switch {
	case o == nil:
		return artifact.RedactURLs(arg)
	case o.Secret:
		return artifact.Redacted
	case o.Type == option.Headers:
		if hasSensitiveHeader(arg) {
			return artifact.Redacted
		}
		return artifact.RedactURLs(arg)
	case o.Type == option.URLHeaders:
		return redactURLHeader(arg)
	case o.Type == option.Pairs:
		return redactPairs(arg)
	case o.Address:
		var items []string
		for item := range strings.SplitSeq(arg, ",") {
			items = append(items, artifact.RedactAddress(item))
		}
		return strings.Join(items, ",")
	default:
		return artifact.RedactURLs(arg)
	}
}

// redactURLHeader hides the value of a header of a URL, if its name says that it is a secret.
func redactURLHeader(token string) string {
	h, err := option.ParseURLHeader(token)
	switch at := artifact.RedactAddress(h.At); {
	case err != nil:
		return artifact.Redacted // not understood, so not known to be harmless
	case artifact.IsSensitiveName(h.Name):
		return option.URLHeader{At: at, Name: h.Name, Value: artifact.Redacted}.String()
	case at != h.At || artifact.RedactURLs(h.Value) != h.Value:
		return option.URLHeader{At: at, Name: h.Name, Value: artifact.RedactURLs(h.Value)}.String()
	}
	return token
}

func hasSensitiveHeader(token string) bool {
	headers, err := option.ParseHeaders([]string{token})
	if err != nil {
		return true // not understood, so not known to be harmless
	}
	for _, h := range headers {
		if artifact.IsSensitiveName(h.Key) {
			return true
		}
	}
	return false
}

// redactPairs hides the credentials among key:value items; of a JSON object it hides all.
func redactPairs(token string) string {
	if strings.HasPrefix(strings.TrimSpace(token), "{") {
		object, err := option.ParseJSONObject(strings.TrimSpace(token))
		if err != nil || holdsCredential(object) {
			return artifact.Redacted
		}
		return artifact.RedactURLs(token)
	}
	items := option.SplitItems(token, option.NextPair)
	for i, item := range items {
		if key, _, ok := strings.Cut(item, ":"); ok && artifact.IsSensitiveName(key) {
			items[i] = key + ":" + artifact.Redacted
		}
	}
	return artifact.RedactURLs(strings.Join(items, ","))
}

func holdsCredential(value any) bool {
	switch v := value.(type) {
	case artifact.Object:
		for _, m := range v {
			if artifact.IsSensitiveName(m.Key) || holdsCredential(m.Value) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if holdsCredential(item) {
				return true
			}
		}
	}
	return false
}

var safeWord = pattern.New(`^[A-Za-z0-9_\-./:,@%+=]+$`)

// shellWord quotes a word only if a shell would not take it as it is.
func shellWord(word string) string {
	if safeWord.MatchString(word) {
		return word
	}
	return quote(word)
}

// quote puts a word in single quotes for a shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
