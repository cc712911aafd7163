package docs_test

import (
	"io/fs"
	"strings"
	"testing"

	pages "aiperf/docs"
	"aiperf/internal/base/terminal"
	"aiperf/internal/cli/docs"
	"aiperf/internal/config/flags"
)

func TestRender(t *testing.T) {
	got := docs.Render("# A *page*\n\nText with `code`, a [link](other.md#x) and **bold**\nin two lines; 2 * 3.\n\n- one\n"+
		"  more\n- two\n\n| Flag | Meaning |\n|---|---|\n| `-a\\|b` | a meaning that is long enough for two lines |\n\n"+
		"```sh\naiperf x\n```\n\n    indented *code*\n<!-- gone -->\n![alt](x.svg)\n", flags.Look{Width: 40})
	want := `A page
══════

Text with code, a link (→ other) and
bold in two lines; 2 * 3.

  • one more
  • two

Flag  Meaning
────  ──────────────────────────────────
-a|b  a meaning that is long enough for
      two lines

    aiperf x

    indented *code*

(picture: alt)

→ PAGE: aiperf docs PAGE shows the page.
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	styled := docs.Render("# A\n\n`x` **y**\n", flags.Look{Width: 40, Styles: true})
	if want := "\x1b[1mA\x1b[0m\n═\n\n\x1b[36mx\x1b[0m \x1b[1my\x1b[0m\n"; styled != want {
		t.Errorf("%q, want %q", styled, want)
	}
}

// Outside code no line of a page is wider than the terminal, but for a word that cannot be broken.
func TestPagesFit(t *testing.T) {
	names, err := fs.Glob(pages.Pages, "*.md")
	if err != nil || len(names) < 20 {
		t.Fatalf("%d pages, %v", len(names), err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(pages.Pages, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{80, 110} {
			for line := range strings.Lines(docs.Render(string(text), flags.Look{Width: width})) {
				line = strings.TrimSuffix(line, "\n")
				if strings.HasSuffix(line, " ") {
					t.Errorf("%s has a line that ends with blanks: %q", name, line)
				}
				if terminal.Width(line) > width && !strings.HasPrefix(line, "    ") && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s at %d columns: %d: %s", name, width, terminal.Width(line), line)
				}
			}
		}
	}
}
