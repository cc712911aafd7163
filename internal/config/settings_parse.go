package config

import (
	"fmt"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/config/flags"
)

// Parse reads the arguments after "aiperf profile" and the environment. All faults of single flags and
// variables are collected in its error, a Faults.
func Parse(args []string, lookup Lookup) (*Parsed, error) {
	s := &scanner{parsed: &Parsed{Args: args, settings: map[string]*setting{}, lookup: lookup},
		tokens: map[string][]string{}}
	_ = Flags().Scan(args, s) // it collects its faults
	s.finishLists()
	env, warnings, err := ReadEnv(lookup)
	if err != nil {
		s.faults = append(s.faults, err.(Faults)...)
	}
	s.parsed.Env, s.parsed.Warnings = env, warnings
	s.fromEnvironment(lookup)
	return s.parsed, s.faults.err()
}

// scanner is the reader of the arguments.
type scanner struct {
	parsed *Parsed
	// tokens collects what lists were given, by canonical name, until all occurrences are known.
	tokens map[string][]string
	lists  []string
	faults Faults
	// lastRepeat is the Repeat flag that has just got its one token; a bare word after it is a likely slip.
	lastRepeat string
}

// Word refuses an argument that belongs to no flag.
func (s *scanner) Word(word string) error {
	hint := ""
	if s.lastRepeat != "" {
		hint = fmt.Sprintf("; to give %s several values repeat the flag or separate them by commas", s.lastRepeat)
	}
	s.faults.add("", "unexpected argument %q: profile takes flags only%s", shorten(word), hint)
	s.lastRepeat = ""
	return nil
}

// Unknown says which flag was probably meant.
func (s *scanner) Unknown(typed string) error {
	s.lastRepeat = ""
	hint := "aiperf profile --help lists all flags"
	if near := Flags().Nearest(typed); near != "" {
		hint = "did you mean " + near + "?"
	}
	s.faults.add("", "unknown flag %s; %s", shorten(typed), hint)
	return nil
}

// NoValue says how to write a value that looks like a flag.
func (s *scanner) NoValue(u flags.Use) error {
	s.lastRepeat = ""
	s.faults.add("", "%s needs a value (%[1]s=VALUE if the value starts with a dash)", u.Typed)
	return nil
}

// Use keeps the values of a flag.
func (s *scanner) Use(u flags.Use) error {
	s.lastRepeat = ""
	switch o := table().options[u.Flag]; {
	case o.Type == Bool:
		s.boolean(o, u)
	case o.Arity == One:
		s.scalar(o, u.Typed, u.Values[0])
	default:
		s.collect(o, u.Typed, u.Values)
		if o.Arity == Repeat {
			s.lastRepeat = u.Typed
		}
	}
	return nil
}

// IsValue leaves flags alone, but not negative numbers.
func (s *scanner) IsValue(arg string) bool { return !looksLikeFlag(arg) }

func looksLikeFlag(token string) bool {
	return len(token) > 1 && token[0] == '-' && !numberLike(token)
}

// numberLike reports whether a token that starts with a dash is a negative number or time.
func numberLike(token string) bool {
	_, err := scalar.In(time.Second, token)
	return err == nil
}

func (s *scanner) boolean(o Option, u flags.Use) {
	value := true
	if len(u.Values) > 0 {
		var err error
		if value, err = scalar.Bool(u.Values[0]); err != nil {
			s.faults.add("", "%s=%s: %v", u.Typed, shorten(u.Values[0]), errNotBool)
			return
		}
	}
	if s.first(o, u.Typed) {
		s.parsed.settings[o.Name] = &setting{origin: Origin{FromFlag, u.Typed}, value: value != u.Negative}
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

// findOption finds the option of a flag as typed.
func findOption(typed string) (o Option, ok bool) {
	i, _ := Flags().Find(typed)
	if i < 0 {
		return Option{}, false
	}
	return table().options[i], true
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
