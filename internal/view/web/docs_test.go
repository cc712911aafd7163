package web

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/base/testkit"
)

// TestDocsOfTheAPI keeps the tables of docs/live.md equal to the tables of routes and messages.
func TestDocsOfTheAPI(t *testing.T) {
	const path = "../../../docs/live.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for name, table := range map[string]string{"routes": routesTable(), "messages": messagesTable()} {
		begin, end := "<!-- "+name+": written by make docs -->\n", "<!-- /"+name+" -->\n"
		before, rest, begins := strings.Cut(text, begin)
		_, after, ends := strings.Cut(rest, end)
		if !begins || !ends {
			t.Fatalf("%s has no table between %q and %q", path, begin, end)
		}
		text = before + begin + table + end + after
	}
	testkit.Golden(t, path, []byte(text))
}

func routesTable() string {
	var b strings.Builder
	b.WriteString("| Request | Answers | Media type | Errors |\n|---|---|---|---|\n")
	for _, r := range table {
		var errors []string
		for _, status := range r.Errors {
			errors = append(errors, strconv.Itoa(status))
		}
		media, _, _ := strings.Cut(r.Media, ";")
		fmt.Fprintf(&b, "| `%s %s` | %s | %s | %s |\n", r.Method, r.Path, r.Summary, media, strings.Join(errors, ", "))
	}
	return b.String()
}

func messagesTable() string {
	var b strings.Builder
	b.WriteString("| Type | Says |\n|---|---|\n")
	for _, m := range messages {
		fmt.Fprintf(&b, "| `%s` | %s |\n", m.Type, m.Summary)
	}
	return b.String()
}
