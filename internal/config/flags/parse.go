package flags

import (
	"fmt"
	"slices"
	"strings"
)

// Use is a flag as it was given.
type Use struct {
	// Flag is its index in the table; Typed the spelling, without the value.
	Flag     int
	Typed    string
	Negative bool
	// Values is empty for a switch without a value.
	Values []string
}

// Reader hears what arguments say. An error ends the scan, which returns it; nil goes on behind the mistake.
type Reader interface {
	Use(Use) error
	Word(word string) error
	// Unknown is a flag that the table lacks, and what was probably given to it; "" for nothing.
	Unknown(typed, value string) error
	// NoValue is a flag whose value is missing.
	NoValue(u Use) error
	// IsValue reports whether the argument behind a flag is its value, where the flag needs one.
	IsValue(arg string) bool
}

// Scan reads arguments.
func (t *Table) Scan(args []string, r Reader) error {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		var err error
		switch {
		case arg == "--":
			for _, word := range args {
				if err := r.Word(word); err != nil {
					return err
				}
			}
			return nil
		case !strings.HasPrefix(arg, "-") || arg == "-":
			err = r.Word(arg)
		default:
			args, err = t.flag(arg, args, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// flag reads a flag with its values and returns the arguments behind them.
func (t *Table) flag(arg string, rest []string, r Reader) ([]string, error) {
	typed, value, inline := strings.Cut(arg, "=")
	u := Use{Typed: typed}
	if u.Flag, u.Negative = t.Find(typed); u.Flag < 0 {
		if one, ok := t.cluster(arg); ok {
			if t.Flags[one].Value != "" {
				return t.flag(arg[:2]+"="+arg[2:], rest, r)
			}
			if _, err := t.flag(arg[:2], nil, r); err != nil {
				return nil, err
			}
			return t.flag("-"+arg[2:], rest, r)
		}
		for !inline && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			if value == "" {
				value = rest[0]
			}
			rest = rest[1:] // its values cannot be distinguished from words, so they are not mistakes as well
		}
		return rest, r.Unknown(typed, value)
	}
	f := &t.Flags[u.Flag]
	if inline {
		u.Values = []string{value}
	} else if f.Value != "" && (!f.Optional || f.More == nil) {
		given := len(rest) > 0 && r.IsValue(rest[0])
		if !given && !f.Optional {
			return rest, r.NoValue(u)
		}
		if given {
			u.Values, rest = rest[:1:1], rest[1:]
		}
	}
	for f.More != nil && len(rest) > 0 && f.More(rest[0]) {
		u.Values, rest = append(u.Values, rest[0]), rest[1:]
	}
	return rest, r.Use(u)
}

// cluster finds the flag of the first letter of an argument such as -ab or -n5.
func (t *Table) cluster(arg string) (flag int, ok bool) {
	if !t.Clustered || len(arg) < 3 || arg[1] == '-' {
		return 0, false
	}
	flag, _ = t.Find(arg[:2])
	return flag, flag >= 0
}

// Parse reads the arguments of a command, has its flags set and returns the words. The error is the first mistake.
func (t *Table) Parse(args []string) (words []string, err error) {
	s := &setter{table: t, places: t.Places}
	err = t.Scan(args, s)
	return s.words, err
}

// setter is the reader of commands whose flags set something.
type setter struct {
	table  *Table
	places []string
	given  []int
	words  []string
}

func (s *setter) Use(u Use) error {
	f := &s.table.Flags[u.Flag]
	if s.table.Once && slices.Contains(s.given, u.Flag) {
		return fmt.Errorf("--%s is given twice", f.Name)
	}
	s.given = append(s.given, u.Flag)
	if u.Negative {
		if len(u.Values) > 0 {
			return fmt.Errorf("--%s takes no value", f.Negation)
		}
		u.Values = []string{"false"}
	}
	if f.On != nil {
		if len(u.Values) > 0 {
			return fmt.Errorf("--%s takes no value", f.Name)
		}
		f.On()
		return nil
	}
	if len(u.Values) == 0 {
		u.Values = []string{"true"}
	}
	for _, v := range u.Values {
		if err := f.Set(v); err != nil {
			return fmt.Errorf("--%s: %w", f.Name, err)
		}
	}
	return nil
}

func (s *setter) Word(word string) error {
	if s.table.Places == nil {
		s.words = append(s.words, word)
		return nil
	}
	if len(s.places) == 0 {
		return fmt.Errorf("unexpected argument %q; %s", word, s.table.see())
	}
	i, _ := s.table.Find("--" + s.places[0])
	s.places = s.places[1:]
	return s.Use(Use{Flag: i, Values: []string{word}})
}

// see says where the flags are explained.
func (t *Table) see() string {
	return "see " + strings.Join(append(strings.Fields("aiperf "+t.Command), "--help"), " ")
}

func (s *setter) Unknown(typed, value string) error {
	if s.table.Foreign != nil {
		instead := s.table.Foreign(typed, value)
		for word := range strings.FieldsSeq(instead) {
			if i, _ := s.table.Find(word); i >= 0 && strings.HasPrefix(word, "--") {
				return fmt.Errorf("unknown option %s; %s", typed, instead)
			}
		}
	}
	if near := s.table.Nearest(typed); near != "" && len(typed) > len("-x") {
		return fmt.Errorf("unknown option %s; did you mean %s?", typed, near)
	}
	return fmt.Errorf("unknown option %s; %s", typed, s.table.see())
}

func (s *setter) NoValue(u Use) error {
	f := &s.table.Flags[u.Flag]
	return fmt.Errorf("--%s needs a value: %s", f.Name, f.Value)
}

// IsValue accepts everything: the name of a file may start with a dash.
func (s *setter) IsValue(string) bool { return true }
