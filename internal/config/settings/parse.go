package settings

import (
	"fmt"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/pattern"
	"aiperf/internal/base/scalar"
	"aiperf/internal/config/env"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/option"
)

// Parse reads the arguments after "aiperf profile" and the environment. All faults of single flags and
// variables are collected in its error, a Faults.
func Parse(args []string, lookup env.Lookup) (*Settings, error) {
	s := &scanner{parsed: &Settings{Tree: option.NewTree(), Args: args, Environ: lookup},
		tokens: map[option.Field][]string{}}
	_ = option.Flags().Scan(args, s) // it collects its faults
	s.finishLists()
	env, warnings, err := env.Read(lookup)
	if err != nil {
		s.faults = append(s.faults, err.(fault.List)...)
	}
	s.parsed.Env, s.parsed.Warnings = env, warnings
	s.fromEnvironment(lookup)
	return s.parsed, s.faults.Err()
}

// scanner is the reader of the arguments.
type scanner struct {
	parsed *Settings
	// tokens collects what lists were given until all occurrences are known.
	tokens map[option.Field][]string
	lists  []option.Field
	faults fault.List
	// lastRepeat is the Repeat flag that has just got its one token; a bare word after it is a likely slip.
	lastRepeat string
	// lastSwitch is the flag without a value that came last; a truth value after it is a likely slip, too.
	lastSwitch string
	// url reports that the server was named by a word.
	url bool
}

// serverWord is a word that names a server: a URL, or a host with a port.
var serverWord = pattern.New(`^([a-z][a-z0-9+]*://\S+|localhost|[A-Za-z0-9.-]+:[0-9]{1,5}(/\S*)?|\[[0-9a-fA-F:]+\]:[0-9]{1,5}(/\S*)?)$`)

// Word takes a word that names a server for --url, and refuses any other argument that belongs to no flag.
func (s *scanner) Word(word string) error {
	if serverWord.MatchString(word) {
		if urls := &s.parsed.URL; urls.IsSet() && !s.url {
			s.faults.Add("", "%s and the word %q both name servers: give all of them with %[1]s", urls.Origin().Name,
				artifact.RedactAddress(word))
		} else {
			s.url = true
			s.collect(urls, "--url", []string{word})
		}
		s.lastRepeat = ""
		return nil
	}
	hint := ""
	if _, err := scalar.Bool(word); err == nil && s.lastSwitch != "" {
		s.faults.Add("", "unexpected argument %q: %s takes a value only with =, as %s=%s", word, s.lastSwitch, s.lastSwitch, word)
		return nil
	}
	if s.lastRepeat != "" {
		hint = fmt.Sprintf("; to give %s several values repeat the flag or separate them by commas", s.lastRepeat)
	}
	s.faults.Add("", "unexpected argument %q: profile takes flags, and the URL of the server%s", fault.Shorten(word), hint)
	s.lastRepeat = ""
	return nil
}

// Unknown says which flag was probably meant.
func (s *scanner) Unknown(typed, value string) error {
	s.lastRepeat, s.lastSwitch = "", ""
	if instead := option.Foreign(typed, value); instead != "" {
		s.faults.Add("", "unknown flag %s; %s", fault.Shorten(typed), instead)
		return nil
	}
	hint := "aiperf profile --help all lists all flags"
	if near := option.Flags().Nearest(typed); near != "" {
		hint = "did you mean " + near + "?"
	}
	s.faults.Add("", "unknown flag %s; %s", fault.Shorten(typed), hint)
	return nil
}

// NoValue says how to write a value that looks like a flag.
func (s *scanner) NoValue(u flags.Use) error {
	s.lastRepeat, s.lastSwitch = "", ""
	s.faults.Add("", "%s needs a value (%[1]s=VALUE if the value starts with a dash)", u.Typed)
	return nil
}

// Use keeps the values of a flag.
func (s *scanner) Use(u flags.Use) error {
	s.lastRepeat, s.lastSwitch = "", ""
	o, _ := option.Find(u.Typed)
	f := s.parsed.Field(o)
	if f == &s.parsed.URL && s.url {
		s.faults.Add("", "%s and a word both name servers: give all of them with %[1]s", u.Typed)
	}
	switch {
	case o.Type == option.Bool:
		s.boolean(f, u)
		if len(u.Values) == 0 {
			s.lastSwitch = u.Typed
		}
	case o.Arity == option.One:
		s.scalar(f, u.Typed, append(u.Values, o.Bare)[0])
	default:
		s.collect(f, u.Typed, u.Values)
		if o.Arity == option.Repeat {
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

func (s *scanner) boolean(f option.Field, u flags.Use) {
	value := true
	if len(u.Values) > 0 {
		var err error
		if value, err = scalar.Bool(u.Values[0]); err != nil {
			s.faults.Add("", "%s=%s: %v", u.Typed, fault.Shorten(u.Values[0]), option.ErrNotBool)
			return
		}
	}
	if s.first(f, u.Typed) {
		f.(*option.Opt[bool]).Put(value != u.Negative, option.Origin{Source: option.FromFlag, Name: u.Typed})
	}
}

func (s *scanner) scalar(f option.Field, typed, token string) {
	if !s.first(f, typed) {
		return
	}
	o := f.Row()
	if err := f.Set([]string{token}, option.Origin{Source: option.FromFlag, Name: typed}); err != nil {
		s.faults.Add(ruleOfList(o, token), "%s%s: %v", typed, echo(o, token), err)
	}
}

// ruleOfList attributes a bad comma list of a swept option to its rule.
func ruleOfList(o *option.Option, token string) string {
	if o.Sweep && strings.Contains(token, ",") {
		return "V38"
	}
	return ""
}

// first complains when a flag that takes one value is given again.
func (s *scanner) first(f option.Field, typed string) bool {
	if !f.IsSet() {
		return true
	}
	if before := f.Origin().Name; before == typed {
		s.faults.Add("", "%s is given twice", typed)
	} else {
		s.faults.Add("", "%s and %s are the same option, given twice", before, typed)
	}
	return false
}

// collect keeps the tokens of a list until its last occurrence is known.
func (s *scanner) collect(f option.Field, typed string, tokens []string) {
	if !f.IsSet() {
		f.Claim(option.Origin{Source: option.FromFlag, Name: typed})
		s.lists = append(s.lists, f)
	}
	s.tokens[f] = append(s.tokens[f], tokens...)
}

func (s *scanner) finishLists() {
	for _, f := range s.lists {
		if err := f.Set(s.tokens[f], f.Origin()); err != nil {
			s.faults.Add("", "%s: %v", f.Flag(), err)
		}
	}
}

// fromEnvironment fills options that no flag set from their variables, whose values were checked before.
func (s *scanner) fromEnvironment(lookup env.Lookup) {
	for f := range s.parsed.Fields() {
		o := f.Row()
		if o.Env == "" || f.IsSet() {
			continue
		}
		text, ok := lookup(o.Env)
		if !ok || text == "" {
			continue
		}
		if err := f.Set([]string{text}, option.Origin{Source: option.FromEnvironment, Name: o.Env}); err != nil {
			f.Unset() // a fault of the variable
		}
	}
}

// echo repeats a value in a message unless it is a secret.
func echo(o *option.Option, token string) string {
	switch {
	case o.Secret || o.Type == option.Headers || o.Type == option.URLHeaders:
		return ""
	case o.Address:
		token = artifact.RedactAddress(token)
	}
	return " " + fault.Shorten(token)
}
