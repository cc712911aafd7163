package server

import (
	"fmt"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/pattern"
)

// CommandLine puts parameters into a command: {key} is replaced by the value of key wherever it occurs, and a parameter
// without such a place is appended as an option: --key value. A key of one letter has one dash, and one that begins with
// a dash is taken as it is. An option that is true is appended as --key, one that is false as --no-key, and one that is
// empty or null is left out. Values are quoted for the shell where they need it.
func CommandLine(command string, params artifact.Object) (string, error) {
	line, err := filled(command, params)
	if err != nil {
		return "", err
	}
	for _, p := range params {
		text, present := text(p.Value)
		switch quoted, _ := quote(text); {
		case strings.Contains(command, place(p.Key)), !present:
		case text == "true":
			line += " " + optionName(p.Key)
		case text == "false":
			line += " --no-" + strings.TrimLeft(p.Key, "-")
		default:
			line += " " + optionName(p.Key) + " " + quoted
		}
	}
	return line, nil
}

// filled replaces the places of parameters in a command by their values.
func filled(command string, params artifact.Object) (string, error) {
	var pairs []string
	for _, p := range params {
		text, _ := text(p.Value)
		quoted, err := quote(text)
		if err != nil {
			return "", fmt.Errorf("--serve-params %s: %w", p.Key, err)
		}
		pairs = append(pairs, place(p.Key), quoted)
	}
	return strings.NewReplacer(pairs...).Replace(command), nil
}

// place is what stands in a command for the value of a parameter.
func place(key string) string { return "{" + key + "}" }

// text returns a value as it is typed; present is false for one that is empty.
func text(v any) (text string, present bool) {
	switch v := v.(type) {
	case nil:
		return "", false
	case string:
		return v, v != ""
	case float64:
		return strings.TrimSuffix(string(artifact.AppendFloat(nil, v)), ".0"), true
	case artifact.Object, []any:
		json, _ := artifact.AppendJSON(nil, v)
		return string(json), true
	}
	return fmt.Sprint(v), true
}

func optionName(key string) string {
	switch {
	case strings.HasPrefix(key, "-"):
		return key
	case len(key) == 1:
		return "-" + key
	}
	return "--" + key
}

// plain are texts that mean themselves to every shell.
var plain = pattern.New(`^[A-Za-z0-9_@+=:,./-]+$`)
