package docs

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"aiperf/docs"
	"aiperf/internal/base/manual"
)

// page is a page of the documentation.
type page struct {
	name, text string
	sections   []section
}

// section is a heading with what follows it, up to the next heading.
type section struct {
	level      int
	title      string
	begin, end int // in the text of the page
}

// indexPage is the page that lists the others, where there is one.
const indexPage = "README"

// readPages reads all pages, in the order of their names.
func readPages(files fs.FS) ([]page, error) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, err
	}
	var list []page
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		p := page{name: strings.TrimSuffix(name, ".md"), text: string(text)}
		p.sections = sectionsOf(p.text)
		list = append(list, p)
	}
	return list, nil
}

// Names are the names of the pages.
func Names() (names []string) {
	files, _ := fs.Glob(docs.Pages, "*.md") // the pattern is right
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file, ".md"))
	}
	return names
}

// sectionsOf finds the headings outside code.
func sectionsOf(text string) (list []section) {
	fenced, at := false, 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if title := strings.TrimLeft(line, "#"); !fenced && len(title) < len(line) && strings.HasPrefix(title, " ") {
			list = append(list, section{level: len(line) - len(title), title: strings.TrimSpace(plain(title)), begin: at})
		}
		at += len(line)
	}
	for i := range list {
		list[i].end = len(text)
		if i+1 < len(list) {
			list[i].end = list[i+1].begin
		}
	}
	return list
}

// title is the heading of the page.
func (p *page) title() string {
	if len(p.sections) == 0 {
		return p.name
	}
	return p.sections[0].title
}

// find finds a page by its name, which may be that of its file.
func find(list []page, word string) (page, bool) {
	word = strings.ToLower(strings.TrimSuffix(path.Base(strings.ReplaceAll(word, "_", "-")), ".md"))
	for _, p := range list {
		if strings.ToLower(p.name) == word {
			return p, true
		}
	}
	return page{}, false
}

// parts are the sections of a page whose headings have all words, with those below them.
func (p *page) parts(words []string) string {
	var b strings.Builder
	end := 0
	for i, s := range p.sections {
		if s.begin < end || i == 0 || count(s.title, words) == 0 {
			continue
		}
		end = s.end
		for _, below := range p.sections[i+1:] {
			if below.level <= s.level {
				break
			}
			end = below.end
		}
		b.WriteString(p.text[s.begin:end])
	}
	return b.String()
}

// index lists the pages, in Markdown: the page that does, or names and titles.
func index(list []page) string {
	var b strings.Builder
	if p, ok := find(list, indexPage); ok {
		b.WriteString(p.text)
	} else {
		b.WriteString("# Documentation\n\n| Page | |\n|---|---|\n")
		for _, p := range list {
			fmt.Fprintf(&b, "| %s | %s |\n", p.name, p.title())
		}
	}
	b.WriteString("\n`aiperf docs PAGE` shows a page, `aiperf docs WORD` the places that have a word.\n")
	return b.String()
}

// place is a section that has the words of a search.
type place struct {
	page    *page
	section *section
	score   int
	line    string
}

// mostPlaces are shown of a search.
const mostPlaces = 12

// tables are the pages that list everything, in which every word is found.
var tables = []string{"cli", "config-keys", "environment", "benchmarks", "decisions", "testing"}

// search finds the sections that have all words, the best first: those with a word in the name of the page or in a
// heading before those with it in the text; of two like these the one that has it more often.
func search(list []page, words []string) []place {
	var places []place
	for i := range list {
		p := &list[i]
		for j := range p.sections {
			s := &p.sections[j]
			text := p.text[s.begin:s.end]
			n := count(p.name+" "+s.title+" "+text, words)
			if n == 0 {
				continue
			}
			score := min(n, 20)
			if slices.Contains(tables, p.name) {
				score -= 30
			}
			for _, word := range words {
				if count(s.title, []string{word}) > 0 {
					score += 40 / len(words)
				}
				if count(strings.ReplaceAll(p.name, "-", " ")+" "+p.name, []string{word}) > 0 {
					score += 30 / len(words)
					if j == 0 {
						score += 30 / len(words)
					}
				}
			}
			places = append(places, place{p, s, score, lineWith(text, words)})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return b.score - a.score })
	return places
}

// count is how often a text has the word that it has the least; 0 if it lacks one.
func count(text string, words []string) int {
	text = strings.ToLower(text)
	least := 1 << 30
	for _, word := range words {
		least = min(least, strings.Count(text, stem(word)))
	}
	return least
}

// stem is a word without its English ending, so that "comparing" finds "compare" and the other way round.
func stem(word string) string {
	word = strings.ToLower(word)
	for _, ending := range []string{"ing", "es", "ed", "s", "e"} {
		if root, ok := strings.CutSuffix(word, ending); ok && len(root) > 3 {
			return root
		}
	}
	return word
}

// lineWith is the first line of a text below its heading that has one of the words.
func lineWith(text string, words []string) string {
	_, body, _ := strings.Cut(text, "\n")
	for line := range strings.Lines(body) {
		for _, word := range words {
			if strings.Contains(strings.ToLower(line), stem(word)) {
				return strings.Join(filled(cells(plain(line))), " · ")
			}
		}
	}
	return ""
}

// listed is the answer of a search, in lines of a width: commands that show the places, each with a line of its text.
func listed(places []place, words []string, width int) string {
	var b strings.Builder
	for i, p := range places {
		if i == mostPlaces {
			fmt.Fprintf(&b, "%d more places: add a word, or put the name of a page before the words.\n", len(places)-i)
			break
		}
		command := manual.Page(p.page.name)
		if p.section != &p.page.sections[0] {
			command += " " + quoted(p.section.title)
		}
		b.WriteString(string(markCode) + command + string(markPlain) + "\n")
		for _, line := range wrap(shortened(p.line, words), width-4) {
			if line != "" {
				b.WriteString("    " + line + "\n")
			}
		}
	}
	return b.String()
}

// quoted is a heading as an argument of a command.
func quoted(title string) string {
	if strings.ContainsAny(title, " `'\"$&;<>()|*?#\\") {
		return "'" + strings.NewReplacer("'", "’", "`", "").Replace(title) + "'"
	}
	return title
}

// filled are the texts that are not empty.
func filled(list []string) []string {
	return slices.DeleteFunc(list, func(text string) bool { return text == "" })
}

// mostExcerpt is the length of a line of an answer, in characters.
const mostExcerpt = 150

// shortened is the part of a line around the first of the words.
func shortened(line string, words []string) string {
	runes := []rune(line)
	if len(runes) <= mostExcerpt {
		return line
	}
	at := len(runes)
	for _, word := range words {
		if i := strings.Index(strings.ToLower(line), stem(word)); i >= 0 {
			at = min(at, len([]rune(line[:min(i, len(line))])))
		}
	}
	from := max(0, min(at-mostExcerpt/3, len(runes)-mostExcerpt))
	part := string(runes[from:min(len(runes), from+mostExcerpt)])
	if from > 0 {
		_, part, _ = strings.Cut(part, " ")
		part = "… " + part
	}
	if i := strings.LastIndexByte(part, ' '); from+mostExcerpt < len(runes) && i > 0 {
		part = part[:i] + " …"
	}
	return part
}
