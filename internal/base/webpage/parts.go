package webpage

import (
	"bytes"
	"html/template"
	"sync"
)

// Status is a judgement: Level is good, warn, bad or plain.
type Status struct {
	Level, Title, Text string
	Items              []string
	// Marked items begin with a mark of their own.
	Marked bool
}

// Card is a key figure.
type Card struct {
	Title, Value, Unit, What string
	Lines                    []CardLine
	// About is nil for a figure without an explanation on the page.
	About *About
}

// About explains a figure. A page that has buttons of it (the template "about") has all of them once, in "explanations".
type About struct{ Tag, Title, Unit, Text, Formula, Note string }

// CardLine is a further figure on a card; Few reports that there are too few samples for an upper bound of it.
type CardLine struct {
	Text string
	Few  bool
}

// Figure is the place of a chart; Description replaces it where it cannot be seen.
type Figure struct{ ID, Title, Unit, Note, Description string }

// Choice is the place of a chart of a line that the reader chooses. Hidden lines are not offered.
type Choice struct {
	ID, Title string
	Options   []string
	Hidden    int
}

// Step is a page that leads to this one, and Tab a page beside it, which Key identifies.
type (
	Step struct{ Path, Name string }
	Tab  struct{ Path, Name, Key string }
)

// Navigation is the bar on top of a page: what leads to it, and its tabs, of which Key is this one. Lead stands before
// the tabs.
type Navigation struct {
	Steps           []Step
	Tabs            []Tab
	Key, Here, Lead string
}

var navigation = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(assets, "assets/parts.html"))
})

// Within puts the bar into a finished page that has none, such as a report that its run wrote, and sets its theme, ""
// for that which the browser prefers.
func Within(page []byte, nav *Navigation, theme string) []byte {
	var bar bytes.Buffer
	if err := navigation().ExecuteTemplate(&bar, "navigation", nav); err != nil {
		return page // it is embedded
	}
	page = bytes.Replace(page, []byte("<header>"), append(bar.Bytes(), "<header>"...), 1)
	if theme != "" {
		page = bytes.Replace(page, []byte(`<html lang="en">`), []byte(`<html lang="en" data-theme="`+theme+`">`), 1)
	}
	return page
}
