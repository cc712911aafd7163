package flags

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/suggest"
)

// HelpWords finds the question of arguments that ask for help: the words behind --help or -h, up to the next flag.
// "--help --flag" asks for that flag.
func HelpWords(args []string) (words []string, asked bool) {
	for i, arg := range args {
		if arg == "--" {
			return nil, false
		}
		word, joined := strings.CutPrefix(arg, "--help=")
		if arg != "--help" && arg != "-h" && !joined {
			continue
		}
		if joined && word != "" {
			words = append(words, word)
		}
		if rest := args[i+1:]; i == 0 && len(rest) == 1 {
			return append(words, rest...), true
		}
		for _, word := range args[i+1:] {
			if strings.HasPrefix(word, "-") {
				break
			}
			words = append(words, word)
		}
		return words, true
	}
	return nil, false
}

// WantsHelp reports whether arguments ask for the help text.
func WantsHelp(args []string) bool {
	_, asked := HelpWords(args)
	return asked
}

// found is how well a flag or an entry fits the words of a search.
type found uint8

const (
	mentions found = iota + 1
	called         // a name has the words
	exactly        // a name is the word
)

// fit is how well names and a text fit words; 0 where one of the words is in none of them.
func fit(words, names []string, text string) found {
	best := exactly
	text = strings.ToLower(text)
	for _, word := range words {
		word = strings.ToLower(strings.TrimLeft(word, "-"))
		dashed := strings.ReplaceAll(word, "_", "-")
		this := found(0)
		for _, name := range names {
			name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
			switch {
			case name == dashed:
				this = exactly
			case strings.Contains(name, dashed):
				this = max(this, called)
			}
		}
		if this == 0 && strings.Contains(text, word) {
			this = mentions
		}
		best = min(best, this)
	}
	if best == exactly && len(words) > 1 {
		best = called
	}
	return best
}

// names are all names of a flag without dashes.
func (f *Flag) names() []string {
	names := f.Long()
	if f.Short != "" {
		names = append(names, f.Short)
	}
	return names
}

// Matching returns the names of the flags that have or mention all words, the best first.
func (t *Table) Matching(words []string) (names []string) {
	by := t.matches(words)
	for _, f := range slices.Concat(by[exactly], by[called], by[mentions]) {
		names = append(names, "--"+f.Name)
	}
	return names
}

// matches sorts the flags that fit the words, by how well.
func (t *Table) matches(words []string) map[found][]*Flag {
	by := map[found][]*Flag{}
	for _, f := range t.visible() {
		if n := fit(words, f.names(), f.Help+" "+f.Facts+" "+f.Value); n > 0 {
			by[n] = append(by[n], f)
		}
	}
	return by
}

// topic is the topic that a word names: by its name, or by a word of its title.
func (t *Table) topic(word string) (Topic, bool) {
	word = strings.ToLower(word)
	for _, topic := range t.Topics {
		if topic.Name == word {
			return topic, true
		}
	}
	for _, topic := range t.Topics {
		for w := range strings.FieldsFuncSeq(strings.ToLower(topic.Title), func(r rune) bool { return r == ' ' || r == ',' }) {
			if len(w) > 3 && w == word {
				return topic, true
			}
		}
	}
	return Topic{}, false
}

// find writes the flags of a topic, or what fits the words.
func (t *Table) find(p *page, words []string) (string, error) {
	by := t.matches(words)
	if topic, ok := t.topic(words[0]); ok && len(words) == 1 && len(by[exactly]) == 0 {
		t.writeTopic(p, topic, by)
		return p.String(), nil
	}
	any := t.writeMatches(p, by, "")
	if t.Also != nil {
		any = t.Also.writeMatches(p, t.Also.matches(words), " of aiperf "+t.Also.Command) || any
	}
	var entries []Entry
	if t.Entries != nil {
		for _, e := range t.Entries() {
			if fit(words, []string{e.Name}, e.Help) > 0 {
				entries = append(entries, e)
			}
		}
	}
	if len(entries) > 0 {
		p.blank()
		p.heading(t.EntriesTitle + ":")
		p.briefs(entries)
	}
	if !any && len(entries) == 0 {
		return "", t.nothing(words)
	}
	return p.String(), nil
}

// writeTopic writes the flags of a topic, and the names of others that are called so.
func (t *Table) writeTopic(p *page, topic Topic, by map[found][]*Flag) {
	p.heading(fmt.Sprintf("aiperf %s: %s", t.Command, topic.Title))
	p.blank()
	var list []*Flag
	for _, f := range t.visible() {
		if f.Topic == topic.Name {
			list = append(list, f)
		}
	}
	p.flags(list)
	var others []string
	for _, f := range by[called] {
		if f.Topic != topic.Name {
			others = append(others, "--"+f.Name)
		}
	}
	if len(others) > 0 {
		p.blank()
		p.text("Elsewhere: " + strings.Join(others, ", "))
	}
}

// writeMatches writes those that are called so with their explanations, and those that mention it in a line each.
func (t *Table) writeMatches(p *page, by map[found][]*Flag, of string) bool {
	list := append(by[exactly], by[called]...)
	if len(list) > 0 {
		p.blank()
		p.heading("Flags" + of + " of this name:")
		p.flags(list)
	}
	if len(by[mentions]) > 0 {
		p.blank()
		p.heading("Flags" + of + " that mention it:")
		var entries []Entry
		for _, f := range by[mentions] {
			entries = append(entries, Entry{"--" + f.Name, f.brief()})
		}
		p.briefs(entries)
	}
	return len(list)+len(by[mentions]) > 0
}

// briefs writes entries in a line each where they fit.
func (p *page) briefs(entries []Entry) {
	column := 0
	for _, e := range entries {
		if n := margin + len(e.Name) + 2; n <= p.width/2 {
			column = max(column, n)
		}
	}
	column = max(column, 12)
	for _, e := range entries {
		text, _, _ := strings.Cut(e.Help, ". ")
		p.row(e.Name, cut(strings.TrimSuffix(text, "."), p.width-column), column)
	}
}

// nothing is the error of words that nothing fits.
func (t *Table) nothing(words []string) error {
	var candidates []string
	for _, topic := range t.Topics {
		candidates = append(candidates, topic.Name)
	}
	for _, f := range t.visible() {
		candidates = append(candidates, f.names()...)
		for _, name := range f.Long() {
			candidates = append(candidates, strings.Split(name, "-")...)
		}
	}
	message := fmt.Sprintf("aiperf %s has no flag that has or mentions %q", t.Command, strings.Join(words, " "))
	if near := suggest.Nearest(words[0], candidates); near != "" {
		message += fmt.Sprintf("; did you mean --help %s?", near)
	}
	if t.Topics != nil {
		return fmt.Errorf("%s\nThe topics are: %s", message, t.topicNames())
	}
	return fmt.Errorf("%s", message)
}
