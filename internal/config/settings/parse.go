package settings

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
	"aiperf/internal/config/env"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/option"
)

// Parse reads the arguments after "aiperf profile" and the environment. All faults of single flags and
// variables are collected in its error, a Faults.
func Parse(args []string, lookup env.Lookup) (*Settings, error) {
	s := &scanner{parsed: &Settings{Args: args, settings: map[string]*setting{}, Environ: lookup},
		tokens: map[string][]string{}}
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
	// tokens collects what lists were given, by canonical name, until all occurrences are known.
	tokens map[string][]string
	lists  []string
	faults fault.List
	// lastRepeat is the Repeat flag that has just got its one token; a bare word after it is a likely slip.
	lastRepeat string
	// url reports that the server was named by a word.
	url bool
}

// serverWord is a word that names a server: a URL, or a host with a port.
var serverWord = regexp.MustCompile(`^([a-z][a-z0-9+]*://\S+|localhost|[A-Za-z0-9.-]+:[0-9]{1,5}(/\S*)?|\[[0-9a-fA-F:]+\]:[0-9]{1,5}(/\S*)?)$`)

// Word takes a word that names a server for --url, and refuses any other argument that belongs to no flag.
func (s *scanner) Word(word string) error {
	if serverWord.MatchString(word) {
		o := option.Named("url")
		switch given := s.parsed.settings[o.Name]; {
		case given == nil || s.url:
			s.url = true
			s.collect(o, "--url", []string{word})
		default:
			s.faults.Add("", "%s and the word %q both name servers: give all of them with %[1]s", given.origin.Name,
				artifact.RedactAddress(word))
		}
		s.lastRepeat = ""
		return nil
	}
	hint := ""
	if s.lastRepeat != "" {
		hint = fmt.Sprintf("; to give %s several values repeat the flag or separate them by commas", s.lastRepeat)
	}
	s.faults.Add("", "unexpected argument %q: profile takes flags, and the URL of the server%s", fault.Shorten(word), hint)
	s.lastRepeat = ""
	return nil
}

// Unknown says which flag was probably meant.
func (s *scanner) Unknown(typed string) error {
	s.lastRepeat = ""
	if instead := option.Foreign(typed); instead != "" {
		s.faults.Add("", "unknown flag %s; aiperf calls this %s", fault.Shorten(typed), instead)
		return nil
	}
	hint := "aiperf profile --help lists all flags"
	if near := option.Flags().Nearest(typed); near != "" {
		hint = "did you mean " + near + "?"
	}
	s.faults.Add("", "unknown flag %s; %s", fault.Shorten(typed), hint)
	return nil
}

// NoValue says how to write a value that looks like a flag.
func (s *scanner) NoValue(u flags.Use) error {
	s.lastRepeat = ""
	s.faults.Add("", "%s needs a value (%[1]s=VALUE if the value starts with a dash)", u.Typed)
	return nil
}

// Use keeps the values of a flag.
func (s *scanner) Use(u flags.Use) error {
	s.lastRepeat = ""
	if o, _ := option.Find(u.Typed); o.Name == "url" && s.url {
		s.faults.Add("", "%s and a word both name servers: give all of them with %[1]s", u.Typed)
	}
	switch o, _ := option.Find(u.Typed); {
	case o.Type == option.Bool:
		s.boolean(o, u)
	case o.Arity == option.One:
		s.scalar(o, u.Typed, append(u.Values, o.Bare)[0])
	default:
		s.collect(o, u.Typed, u.Values)
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

func (s *scanner) boolean(o option.Option, u flags.Use) {
	value := true
	if len(u.Values) > 0 {
		var err error
		if value, err = scalar.Bool(u.Values[0]); err != nil {
			s.faults.Add("", "%s=%s: %v", u.Typed, fault.Shorten(u.Values[0]), option.ErrNotBool)
			return
		}
	}
	if s.first(o, u.Typed) {
		s.parsed.settings[o.Name] = &setting{origin: Origin{FromFlag, u.Typed}, value: value != u.Negative}
	}
}

func (s *scanner) scalar(o option.Option, typed, token string) {
	if !s.first(o, typed) {
		return
	}
	if err := s.parsed.Set(o, []string{token}, Origin{FromFlag, typed}); err != nil {
		s.faults.Add(ruleOfList(o, token), "%s%s: %v", typed, echo(o, token), err)
	}
}

// ruleOfList attributes a bad comma list of a swept option to its rule.
func ruleOfList(o option.Option, token string) string {
	if o.Sweep && strings.Contains(token, ",") {
		return "V38"
	}
	return ""
}

// first complains when a flag that takes one value is given again.
func (s *scanner) first(o option.Option, typed string) bool {
	before := s.parsed.settings[o.Name]
	if before == nil {
		return true
	}
	if before.origin.Name == typed {
		s.faults.Add("", "%s is given twice", typed)
	} else {
		s.faults.Add("", "%s and %s are the same option, given twice", before.origin.Name, typed)
	}
	return false
}

// collect keeps the tokens of a list until its last occurrence is known.
func (s *scanner) collect(o option.Option, typed string, tokens []string) {
	if s.parsed.settings[o.Name] == nil {
		s.parsed.settings[o.Name] = &setting{origin: Origin{FromFlag, typed}}
		s.lists = append(s.lists, o.Name)
	}
	s.tokens[o.Name] = append(s.tokens[o.Name], tokens...)
}

func (s *scanner) finishLists() {
	for _, name := range s.lists {
		o, given := option.Named(name), s.parsed.settings[name]
		if err := s.parsed.Set(o, s.tokens[name], given.origin); err != nil {
			s.faults.Add("", "%s: %v", given.origin.Name, err)
		}
	}
}

// fromEnvironment fills options that no flag set from their variables, whose values were checked before.
func (s *scanner) fromEnvironment(lookup env.Lookup) {
	for _, o := range option.All() {
		if o.Env == "" || s.parsed.settings[o.Name] != nil {
			continue
		}
		text, ok := lookup(o.Env)
		if !ok || text == "" {
			continue
		}
		if err := s.parsed.Set(o, []string{text}, Origin{FromEnvironment, o.Env}); err != nil {
			delete(s.parsed.settings, o.Name) // a fault of the variable
		}
	}
}

// echo repeats a value in a message unless it is a secret.
func echo(o option.Option, token string) string {
	switch {
	case o.Secret || o.Type == option.Headers || o.Type == option.URLHeaders:
		return ""
	case o.Address:
		token = artifact.RedactAddress(token)
	}
	return " " + fault.Shorten(token)
}
