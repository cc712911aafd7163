package flags

import (
	"slices"
	"strings"

	"aiperf/internal/base/manual"
	"aiperf/internal/base/terminal"
)

// HelpWidth is the width of help texts that do not go to a terminal, in columns; MostHelpWidth that of the widest.
const HelpWidth, MostHelpWidth = 80, 110

// MostHelpLines is the length of a first help text: what is longer is shown by topic.
const MostHelpLines = 62

// Topic is a group of the flags of a command, which --help NAME shows.
type Topic struct {
	// Name is one word; Title the heading. The words of the title lead to the topic, too.
	Name, Title string
}

// Section is a part of a short help text: a purpose and the spellings of its flags, without dashes.
type Section struct {
	Title string
	Names []string
}

// Example is a command that runs as it is printed, and what it is for.
type Example struct{ For, Command string }

// Entry is something besides flags that a search of the help finds, such as a variable of the environment.
type Entry struct{ Name, Help string }

// Look is how help texts are written.
type Look struct {
	// Width is that of the lines in columns; 0 means [HelpWidth].
	Width int
	// Styles marks headings and flags with the escapes of terminals.
	Styles bool
}

// Help is what --help prints for the words behind it: without any the first help text, for "all" every flag, for the
// name of a topic its flags, and for other words what is called so or mentions them.
func (t *Table) Help(words []string, look Look) (string, error) {
	p := newPage(look)
	switch {
	case len(words) == 0:
		if t.Short == nil {
			t.whole(p)
			if p.lines() <= MostHelpLines {
				return p.String(), nil
			}
			p = newPage(look)
		}
		t.short(p)
	case len(words) == 1 && strings.EqualFold(words[0], "all"):
		t.whole(p)
	default:
		return t.find(p, words)
	}
	return p.String(), nil
}

// Written reflows a text without flags, such as a list of actions, to the width of a look.
func Written(text string, look Look) string {
	p := newPage(look)
	p.text(text)
	return p.String()
}

// whole writes all flags with their explanations.
func (t *Table) whole(p *page) {
	about, heading := t.about()
	p.text(about)
	p.examples(t.Examples)
	for i, group := range t.groups() {
		switch {
		case group.Title != "":
			heading = group.Title + ":"
		case i > 0 || len(group.flags) == 0:
			heading = ""
		}
		if len(group.flags) > 0 && heading != "" {
			p.blank()
			p.heading(heading)
		}
		p.flags(group.flags)
	}
	if len(t.Flags) > 0 {
		if t.Topics != nil {
			p.blank()
		}
		p.row(helpHead, "this text; with a word, the flags that mention it", p.column(t.visible()))
	}
	if t.Footer != "" {
		p.blank()
		p.text(t.Footer)
	}
	if t.Page != "" {
		p.blank()
		p.text("More: " + manual.Page(t.Page))
	}
}

// short writes the usual flags in a line each, and how the others are found.
func (t *Table) short(p *page) {
	about, _ := t.about()
	p.text(about)
	p.examples(t.Examples)
	sections := t.Short
	if sections == nil {
		for _, group := range t.groups() {
			s := Section{Title: group.Title}
			for _, f := range group.flags {
				s.Names = append(s.Names, f.Name)
			}
			sections = append(sections, s)
		}
	}
	type line struct{ head, brief string }
	lines := make([][]line, len(sections))
	column := 0
	for i, s := range sections {
		for _, name := range s.Names {
			f := t.spelled(name)
			l := line{"--" + name, f.brief()}
			if f.Short != "" && (f.Name == name || slices.Contains(f.Aliases, name)) {
				l.head = "-" + f.Short + ", --" + name
			}
			if f.Value != "" {
				l.head += " " + briefValue(f.Value)
			}
			lines[i] = append(lines[i], l)
			column = max(column, len([]rune(l.head)))
		}
	}
	column = min(column, p.width*2/5) + 4
	for i, s := range sections {
		p.blank()
		if s.Title == "" {
			s.Title = "Flags"
		}
		p.heading(s.Title + ":")
		for _, l := range lines[i] {
			p.row(l.head, cut(l.brief, p.width-column), column)
		}
	}
	if t.ShortFooter != "" {
		p.blank()
		p.text(t.ShortFooter)
	}
	p.blank()
	p.heading("More help:")
	column = len(manual.Page(t.Page)) + 4
	if t.Topics != nil {
		p.row("--help TOPIC", t.topicNames(), column)
	}
	p.row("--help WORD", "search names, texts and variables, as in --help timeout", column)
	p.row("--help all", "every flag, its default and its limits", column)
	if t.Page != "" {
		p.row(manual.Page(t.Page), "the page about it", column)
	}
}

// topicNames are the names of the topics for a reader.
func (t *Table) topicNames() string {
	var names []string
	for _, topic := range t.Topics {
		names = append(names, topic.Name)
	}
	return strings.Join(names, ", ")
}

// about is the text before the flags without their heading, and the heading.
func (t *Table) about() (text, heading string) {
	text = strings.TrimRight(t.About, "\n")
	i := strings.LastIndexByte(text, '\n') + 1
	if strings.HasSuffix(text, ":") && i > 0 && !strings.HasPrefix(text[i:], " ") {
		return strings.TrimRight(text[:i], "\n") + "\n", text[i:]
	}
	return text + "\n", "Flags:"
}

// group is a topic with its flags; those without a topic come first, without a title.
type group struct {
	Topic
	flags []*Flag
}

func (t *Table) groups() []group {
	groups := make([]group, 1+len(t.Topics))
	for i, topic := range t.Topics {
		groups[i+1].Topic = topic
	}
	for _, f := range t.visible() {
		i := slices.IndexFunc(t.Topics, func(topic Topic) bool { return topic.Name == f.Topic })
		groups[i+1].flags = append(groups[i+1].flags, f)
	}
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.flags) == 0 })
}

// visible are the flags that the help explains.
func (t *Table) visible() (list []*Flag) {
	for i := range t.Flags {
		if t.Flags[i].Help != "" {
			list = append(list, &t.Flags[i])
		}
	}
	return list
}

// spelled is the flag of a spelling without dashes, which the table has.
func (t *Table) spelled(name string) *Flag {
	i, _ := t.Find("--" + name)
	return &t.Flags[i]
}

// Head is the flag and its value as the help text begins with them.
func (f *Flag) Head() string {
	return strings.TrimRight(strings.Join(f.Spellings(), ", ")+" "+f.Value, " ")
}

// explained is the explanation of a flag with what is known of its value.
func (f *Flag) explained() string {
	help := strings.ReplaceAll(f.Help, "\n", " ")
	switch {
	case f.Facts != "":
		help += " [" + f.Facts + "]"
	case f.Default != "" && f.Value != "":
		help += " (default " + f.Default + ")"
	}
	return help
}

// brief is the explanation in a line.
func (f *Flag) brief() string {
	if f.Brief != "" {
		return f.Brief
	}
	text, _, _ := strings.Cut(strings.ReplaceAll(f.Help, "\n", " "), ". ")
	return strings.TrimSuffix(text, ".")
}

// cut shortens an explanation to a width: to its beginning, where that says something by itself.
func cut(text string, room int) string {
	if terminal.Width(text) <= room {
		return text
	}
	for _, end := range []string{" [default", "; ", " (", ": "} {
		if begin, _, found := strings.Cut(text, end); found && len(begin) >= 8 && terminal.Width(begin) <= room {
			return begin
		}
	}
	return terminal.Cut(text, room, "…")
}

// briefValue is the name of a value where there is little room.
func briefValue(value string) string {
	switch {
	case value == "SECONDS" || value == "MILLISECONDS":
		return "TIME"
	case strings.Contains(value, "|") && len(value) > 16:
		return "NAME"
	}
	return value
}
