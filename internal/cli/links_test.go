package cli_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// pageLink matches a link or a picture of a page, and pageOfSource a page that the source code names.
var (
	pageLink     = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	pageOfSource = regexp.MustCompile(`docs/[a-z][a-z0-9-]*\.md(#[a-z0-9_-]+)?`)
	inlineCode   = regexp.MustCompile("`[^`\n]+`")
	linkText     = regexp.MustCompile(`\[([^\]]*)\]\([^()\s]+\)`)
)

// TestLinksOfThePagesLeadSomewhere follows the links between the pages, to their sections and to their pictures, and
// those in the texts of the program.
func TestLinksOfThePagesLeadSomewhere(t *testing.T) {
	root := os.DirFS("../..")
	pages, err := fs.Glob(root, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, _ := fs.Glob(root, "docs/*.md")
	anchors := map[string]map[string]bool{}
	sections := func(page string) map[string]bool {
		if anchors[page] == nil {
			text, err := fs.ReadFile(root, page)
			if err != nil {
				t.Fatal(err)
			}
			anchors[page] = anchorsOf(string(text))
		}
		return anchors[page]
	}
	follow := func(from, place, anchor string) {
		if _, err := fs.Stat(root, place); err != nil {
			t.Errorf("%s leads to %s, which does not exist", from, place)
		} else if anchor != "" && !sections(place)[anchor] {
			t.Errorf("%s leads to %s#%s, and there is no such section", from, place, anchor)
		}
	}
	for _, page := range append(pages, more...) {
		text, err := fs.ReadFile(root, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pageLink.FindAllStringSubmatch(proseOf(string(text)), -1) {
			place, anchor, _ := strings.Cut(m[1], "#")
			switch {
			case strings.Contains(place, ":"):
			case place == "":
				follow(page, page, anchor)
			default:
				follow(page, path.Join(path.Dir(page), place), anchor)
			}
		}
	}
	err = filepath.WalkDir("..", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, named := range pageOfSource.FindAllString(string(text), -1) {
			place, anchor, _ := strings.Cut(named, "#")
			follow(file, place, anchor)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// proseOf is a page without its code.
func proseOf(page string) string {
	var prose strings.Builder
	fenced := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced && !strings.HasPrefix(line, "    ") {
			prose.WriteString(line)
		}
	}
	return inlineCode.ReplaceAllString(prose.String(), "")
}

// anchorsOf are the anchors of a page's sections: their titles in lower case without punctuation, with hyphens for
// blanks, and a number where a title comes again.
func anchorsOf(page string) map[string]bool {
	anchors := map[string]bool{}
	fenced := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		title := strings.TrimLeft(line, "#")
		if fenced || title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		title = linkText.ReplaceAllString(strings.TrimSpace(title), "$1")
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsNumber(r):
				return unicode.ToLower(r)
			}
			return -1
		}, title)
		for n, first := 1, anchor; anchors[anchor]; n++ {
			anchor = first + "-" + strconv.Itoa(n)
		}
		anchors[anchor] = true
	}
	return anchors
}
