package env

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"aiperf/internal/base/scalar"
	"aiperf/internal/base/suggest"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
)

// Lookup finds an environment variable; os.LookupEnv is one.
type Lookup func(name string) (string, bool)

// Read reads and checks the environment. Its error is a Faults with one line for each bad variable.
func Read(lookup Lookup) (Values, []fault.Warning, error) {
	var env Values
	table, values := variablesOf(&env), map[string]any{}
	var faults fault.List
	set := map[string]bool{}
	for _, v := range table {
		text, ok := v.Default, v.Default != ""
		if given, is := lookup(option.EnvPrefix + v.Name); is {
			text, ok, set[v.Name] = given, true, true
		}
		if !ok {
			continue
		}
		value, err := v.parse(text)
		if err != nil {
			faults.Add("", "environment variable %s%s=%q: %v", option.EnvPrefix, v.Name, text, err)
			continue
		}
		values[v.Name] = value
		v.set(value)
	}
	if len(faults) > 0 {
		return Values{}, nil, faults
	}
	if a, b := values["SERVICE_PROFILE_CONFIGURE_TIMEOUT"].(float64),
		values["DATASET_CONFIGURATION_TIMEOUT"].(float64); a < b {
		faults.Add("", "environment variable AIPERF_SERVICE_PROFILE_CONFIGURE_TIMEOUT (%s) must be at least "+
			"AIPERF_DATASET_CONFIGURATION_TIMEOUT (%s); raise it too", option.PlainNumber(a), option.PlainNumber(b))
		return Values{}, nil, faults
	}
	var warnings []fault.Warning
	if !env.Dev.Mode {
		for _, name := range []string{"DEV_SHOW_INTERNAL_METRICS", "DEV_SHOW_EXPERIMENTAL_METRICS"} {
			if set[name] && values[name] == true {
				warnings = append(warnings, fault.Warning{Level: fault.LevelWarning,
					Text: option.EnvPrefix + name + " is ignored: it needs AIPERF_DEV_MODE=1"})
			}
		}
		env.Dev = Dev{}
	}
	if idle := withoutEffect(values, set); len(idle) > 0 {
		warnings = append(warnings, fault.Warning{Level: fault.LevelWarning,
			Text: "these environment variables have no effect in this program: " + strings.Join(idle, ", ")})
	}
	return env, warnings, nil
}

// withoutEffect returns the variables that were set to another value than their default and that are not used.
func withoutEffect(values map[string]any, set map[string]bool) []string {
	var idle []string
	for _, v := range Variables() {
		if !set[v.Name] || v.HasEffect() {
			continue
		}
		if usual, err := v.parse(v.Default); err == nil && reflect.DeepEqual(usual, values[v.Name]) {
			continue
		}
		idle = append(idle, option.EnvPrefix+v.Name)
	}
	return idle
}

// SelfProfile names the file of the processor profile of this program itself. It is for those who work on the program,
// so the table of variables leaves it out.
const SelfProfile = option.EnvPrefix + "PPROF"

// Unknown is one warning about the names that start with AIPERF_ and mean nothing here, each
// with the nearest name that does; environ has the form of os.Environ. It is empty if all are known.
func Unknown(environ []string) []fault.Warning {
	var known []string
	for _, v := range Variables() {
		known = append(known, option.EnvPrefix+v.Name)
	}
	for _, o := range option.All() {
		if o.Env != "" {
			known = append(known, o.Env)
		}
	}
	var parts []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, option.EnvPrefix) || name == SelfProfile || slices.Contains(known, name) {
			continue
		}
		if near := suggest.Nearest(name, known); near != "" {
			name += " (did you mean " + near + "?)"
		}
		parts = append(parts, name)
	}
	if len(parts) == 0 {
		return nil
	}
	sort.Strings(parts)
	return []fault.Warning{{Level: fault.LevelWarning,
		Text: "unknown environment variables are ignored: " + strings.Join(parts, ", ")}}
}

// HasEffect reports whether this program does anything with the variable but check it.
func (v Variable) HasEffect() bool {
	return v.field != nil || slices.ContainsFunc(option.All(),
		func(o option.Option) bool { return o.Env == option.EnvPrefix+v.Name })
}

// set gives the variable's field its value.
func (v Variable) set(value any) {
	number, _ := value.(float64)
	switch field := v.field.(type) {
	case nil:
	case *bool:
		*field = value.(bool)
	case *string:
		*field = value.(string)
	case *[]string:
		*field = value.([]string)
	case *int:
		*field = int(number)
	case *int64:
		*field = int64(number)
	case *float64:
		*field = number
	case *time.Duration:
		*field = option.Duration(number, v.Unit)
	case **time.Duration:
		d := option.Duration(number, v.Unit)
		*field = &d
	default:
		panic(fmt.Sprintf("env: %s sets a %T", v.Name, field))
	}
}

// parse reads a variable's text by its type and checks the range.
func (v Variable) parse(text string) (any, error) {
	switch v.Type {
	case VarBool:
		b, err := scalar.Bool(text)
		if err != nil {
			return nil, option.ErrNotBool
		}
		return b, nil
	case VarInt, VarFloat:
		n, err := v.number(text)
		if err != nil || math.IsInf(n, 0) {
			return nil, fmt.Errorf("is not a number%s", v.rangeHint())
		}
		if v.Type == VarInt && n != math.Trunc(n) {
			return nil, fmt.Errorf("is not a whole number%s", v.rangeHint())
		}
		if !v.Limits.Contains(n) {
			return nil, fmt.Errorf("is out of range%s", v.rangeHint())
		}
		return n, nil
	case VarEnum:
		if canonical, ok := option.MatchEnum(text, v.Values); ok {
			return canonical, nil
		}
		return nil, fmt.Errorf("%s", suggest.OneOf(text, v.Values))
	case VarList:
		return parseEnvList(text)
	case VarJSON:
		if !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("is not valid JSON")
		}
		return text, nil
	default:
		return text, nil
	}
}

// number reads a number: of units of time, or a count, or any.
func (v Variable) number(text string) (float64, error) {
	if v.Unit > 0 {
		return scalar.In(v.Unit, text)
	}
	if v.Type == VarInt {
		if n, err := scalar.Count(text); err == nil {
			return float64(n), nil
		}
	}
	return scalar.Number(text)
}

func (v Variable) rangeHint() string {
	if r := v.Limits.String(); r != "" {
		return "; it must be " + r
	}
	return ""
}

// parseEnvList reads a JSON array of strings or a comma list; blank text is an empty list.
func parseEnvList(text string) (any, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "[") {
		list := []string{}
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			return nil, fmt.Errorf("is not a JSON array of strings; a comma list is allowed too")
		}
		return list, nil
	}
	list := []string{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list, nil
}

// The environment variables that hold an API key where no flag gives one, the stronger one first.
const (
	OwnKeyVariable    = "API_KEY" // behind EnvPrefix
	OpenAIKeyVariable = "OPENAI_API_KEY"
)
