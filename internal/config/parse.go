package config

import (
	"fmt"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/base/suggest"
)

// Parse reads the arguments after "aiperf profile" and the environment. All faults of single flags and
// variables are collected in its error, a Faults; it is ErrHelp when the arguments ask for help.
func Parse(args []string, lookup Lookup) (*Parsed, error) {
	s := &scanner{args: args, parsed: &Parsed{Args: args, settings: map[string]*setting{}, lookup: lookup}, tokens: map[string][]string{}}
	if s.scan() {
		return nil, ErrHelp
	}
	s.finishLists()
	env, warnings, err := ReadEnv(lookup)
	if err != nil {
		s.faults = append(s.faults, err.(Faults)...)
	}
	s.parsed.Env, s.parsed.Warnings = env, warnings
	s.fromEnvironment(lookup)
	return s.parsed, s.faults.err()
}

// scanner walks over an argument vector.
type scanner struct {
	args   []string
	next   int
	parsed *Parsed
	// tokens collects what lists were given, by canonical name, until all occurrences are known.
	tokens map[string][]string
	lists  []string
	faults Faults
	// lastRepeat is the Repeat flag that has just got its one token; a bare word after it is a likely slip.
	lastRepeat string
}

// scan reads all arguments; it reports whether help was asked for.
func (s *scanner) scan() bool {
	for s.next < len(s.args) {
		token := s.args[s.next]
		s.next++
		switch {
		case token == "--help" || token == "-h":
			return true
		case token == "--":
			s.positionals(s.args[s.next:])
			s.next = len(s.args)
		case strings.HasPrefix(token, "-") && token != "-":
			s.flag(token)
			continue
		default:
			s.positionals([]string{token})
		}
		s.lastRepeat = ""
	}
	return false
}

func (s *scanner) positionals(words []string) {
	for _, word := range words {
		hint := ""
		if s.lastRepeat != "" {
			hint = fmt.Sprintf("; to give %s several values repeat the flag or separate them by commas", s.lastRepeat)
		}
		s.faults.add("", "unexpected argument %q: profile takes flags only%s", shorten(word), hint)
	}
}

// flag reads one flag with its value.
func (s *scanner) flag(token string) {
	s.lastRepeat = ""
	typed, inline, hasInline := strings.Cut(token, "=")
	o, negative, ok := findOption(typed)
	if !ok {
		s.faults.add("", "unknown flag %s%s", shorten(typed), suggestFlag(typed))
		for !hasInline && s.next < len(s.args) && !strings.HasPrefix(s.args[s.next], "-") {
			s.next++ // its values cannot be told from arguments, so they are not reported as well
		}
		return
	}
	switch {
	case o.Type == Bool:
		s.boolean(o, typed, negative, inline, hasInline)
	case o.Arity == One:
		if value, ok := s.oneValue(typed, inline, hasInline); ok {
			s.scalar(o, typed, value)
		}
	case o.Arity == Repeat:
		if value, ok := s.oneValue(typed, inline, hasInline); ok {
			s.collect(o, typed, []string{value})
			s.lastRepeat = typed
		}
	default:
		var values []string
		if hasInline {
			values = append(values, inline)
		}
		for s.next < len(s.args) && !strings.HasPrefix(s.args[s.next], "-") {
			values = append(values, s.args[s.next])
			s.next++
		}
		s.collect(o, typed, values)
	}
}

// oneValue takes the flag's value: behind "=", or the next token if that is not a flag.
func (s *scanner) oneValue(typed, inline string, hasInline bool) (string, bool) {
	if hasInline {
		return inline, true
	}
	if s.next < len(s.args) && !looksLikeFlag(s.args[s.next]) {
		s.next++
		return s.args[s.next-1], true
	}
	s.faults.add("", "%s needs a value (%s=VALUE if the value starts with a dash)", typed, typed)
	return "", false
}

func looksLikeFlag(token string) bool {
	return len(token) > 1 && token[0] == '-' && !numberLike(token)
}

// numberLike reports whether a token that starts with a dash is a negative number or time.
func numberLike(token string) bool {
	_, err := scalar.In(time.Second, token)
	return err == nil
}

func (s *scanner) boolean(o Option, typed string, negative bool, inline string, hasInline bool) {
	value := true
	if hasInline {
		var err error
		if value, err = scalar.Bool(inline); err != nil {
			s.faults.add("", "%s=%s: %v", typed, shorten(inline), errNotBool)
			return
		}
	}
	if s.first(o, typed) {
		s.parsed.settings[o.Name] = &setting{origin: Origin{FromFlag, typed}, value: value != negative}
	}
}

func (s *scanner) scalar(o Option, typed, token string) {
	if !s.first(o, typed) {
		return
	}
	value, err := parseTokens(o, []string{token})
	if err != nil {
		s.faults.add(ruleOfList(o, token), "%s%s: %v", typed, echo(o, token), err)
		value = &setting{} // known as given, so that a second one is noticed too
	}
	value.origin = Origin{FromFlag, typed}
	s.parsed.settings[o.Name] = value
}

// ruleOfList attributes a bad comma list of a swept option to its rule.
func ruleOfList(o Option, token string) string {
	if o.Sweep && strings.Contains(token, ",") {
		return "V38"
	}
	return ""
}

// first complains when a flag that takes one value is given again.
func (s *scanner) first(o Option, typed string) bool {
	before := s.parsed.settings[o.Name]
	if before == nil {
		return true
	}
	if before.origin.Name == typed {
		s.faults.add("", "%s is given twice", typed)
	} else {
		s.faults.add("", "%s and %s are the same option, given twice", before.origin.Name, typed)
	}
	return false
}

// collect keeps the tokens of a list until its last occurrence is known.
func (s *scanner) collect(o Option, typed string, tokens []string) {
	if s.parsed.settings[o.Name] == nil {
		s.parsed.settings[o.Name] = &setting{origin: Origin{FromFlag, typed}}
		s.lists = append(s.lists, o.Name)
	}
	s.tokens[o.Name] = append(s.tokens[o.Name], tokens...)
}

func (s *scanner) finishLists() {
	for _, name := range s.lists {
		o, given := option(name), s.parsed.settings[name]
		value, err := parseTokens(o, s.tokens[name])
		if err != nil {
			s.faults.add("", "%s: %v", given.origin.Name, err)
			continue
		}
		given.value = value.value
	}
}

// fromEnvironment fills options that no flag set from their variables, whose values were checked before.
func (s *scanner) fromEnvironment(lookup Lookup) {
	for _, o := range table().options {
		if o.Env == "" || s.parsed.settings[o.Name] != nil {
			continue
		}
		text, ok := lookup(o.Env)
		if !ok || text == "" {
			continue
		}
		if value, err := parseTokens(o, []string{text}); err == nil {
			value.origin = Origin{FromEnvironment, o.Env}
			s.parsed.settings[o.Name] = value
		}
	}
}

// findOption finds the option of a flag as typed; negative tells that it is the form that says no.
func findOption(typed string) (o Option, negative, ok bool) {
	t := table()
	if long, is := strings.CutPrefix(typed, "--"); is {
		long = strings.ReplaceAll(long, "_", "-")
		i, known := t.byName[long]
		if !known {
			return Option{}, false, false
		}
		return t.options[i], t.negative[long], true
	}
	i, known := t.byShort[strings.TrimPrefix(typed, "-")]
	if !known {
		return Option{}, false, false
	}
	return t.options[i], false, true
}

// suggestFlag names the flag that was probably meant.
func suggestFlag(typed string) string {
	word := strings.ReplaceAll(strings.TrimLeft(typed, "-"), "_", "-")
	t := table()
	if _, ok := t.byName[word]; ok {
		return "; did you mean --" + word + "?"
	}
	if near := suggest.Nearest(word, t.long); near != "" {
		return "; did you mean --" + near + "?"
	}
	return "; aiperf profile --help lists all flags"
}

// echo repeats a value in a message unless it is a secret.
func echo(o Option, token string) string {
	switch {
	case o.Secret || o.Type == Headers:
		return ""
	case o.Address:
		token = artifact.RedactAddress(token)
	}
	return " " + shorten(token)
}

// shorten keeps long or empty values readable in a message.
func shorten(text string) string {
	const limit = 80
	if text == "" {
		return `""`
	}
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}
