// Package webpage makes the pages of this program: those that are files and those that a server answers. It holds what
// they share: the skeleton with head, navigation, heading and footer, the looks, and the scripts of themes, printing
// and charts. A room that has a page has only its content, as a template that fills the blocks of the skeleton: title,
// overline, tools, heading, main and footer (assets/layout.html).
//
// A [Frame] is a page without its content. Its parts are chosen: a page without charts does not carry the chart
// library.
//
// Invariants: a page contains its scripts, styles and data. Its content security policy allows its own scripts and
// styles alone, by their hashes, and no request beyond what its maker names. Data stand in the page as JSON in which no
// character can end the element.
package webpage

import (
	"embed"
	"encoding/json"
	"html/template"
	"io"
	"io/fs"
	"strings"

	"aiperf/internal/base/terminal"
)

//go:generate bash assets/fetch.sh

//go:embed assets
var assets embed.FS

// Asset returns a file of the assets by its name; one that does not exist panics.
func Asset(name string) string { return Text(assets, "assets/"+name) }

// Text returns an embedded file; one that does not exist panics.
func Text(files fs.FS, path string) string {
	text, err := fs.ReadFile(files, path)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// Parts are what a page has beyond the colours, type, cards, tables and print that all have.
type Parts uint8

const (
	// Charts are the chart library, and lines over time (charts.js).
	Charts Parts = 1 << iota
	// Points are charts of points (points.js); they need Charts.
	Points
	// Sorted are the looks of tables of runs or cells that are sorted by their heads, and of their verdicts.
	Sorted
	// Controls are fields, menus and dialogs, and what scripts do with them (controls.js).
	Controls
)

// Content is what a page has of its own beside its template.
type Content struct {
	Parts Parts
	// Script runs after those of the parts, and reads Data. A page without a script has no data.
	Script string
	Data   any
	// Style comes after those of the parts.
	Style string
}

// Fact is a name and its value.
type Fact struct{ Name, Value string }

// Frame is a page without its content. The view of a page embeds it; the skeleton shows its fields.
type Frame struct {
	Title, Version string
	// Facts stand below the title.
	Facts []Fact
	// Skip names what a keyboard reaches with the first link; "" for no such link.
	Skip string
	// Class is that of the body: wide for pages of wide tables.
	Class string
	// Theme is light, dark or "", what the browser prefers.
	Theme string
	// Nav is nil where the page belongs to no other one.
	Nav *Navigation
	// Refresh is after how many seconds the browser asks again, 0 for never.
	Refresh int
	// Served pages have the address of their icon, which keeps browsers from asking for it.
	Served bool

	Policy                string
	Style                 template.CSS
	Library, Script, Data template.JS
	License               string
}

// New returns the frame of a page.
func New(c Content) (Frame, error) {
	var f Frame
	err := f.Contain(c)
	return f, err
}

// Contain puts the parts of a page and its own script, data and style into the frame, and names them in its policy.
func (f *Frame) Contain(c Content) error {
	style := colours() + Asset("page.css")
	scripts := []string{Asset("page.js")}
	if c.Parts&Charts != 0 {
		style = Asset("uPlot.min.css") + style + Asset("charts.css")
		scripts = append(scripts, Asset("charts.js"))
		f.Library, f.License = template.JS(Asset("uPlot.iife.min.js")), Asset("uPlot.LICENSE")
	}
	if c.Parts&Points != 0 {
		scripts = append(scripts, Asset("points.js"))
	}
	if c.Parts&Sorted != 0 {
		style += Asset("sorted.css")
	}
	if c.Parts&Controls != 0 {
		style += Asset("controls.css")
		scripts = append(scripts, Asset("controls.js"))
	}
	scripts = append(scripts, c.Script)
	if c.Script == "" {
		scripts = nil
	}
	return f.contain(style+c.Style, scripts, c.Data)
}

// Plain returns the frame of a page that has the colours, and beside them only its own style and script, for a template
// that begins with "head" instead of filling the skeleton.
func Plain(title, style, script string, data any) (Frame, error) {
	f := Frame{Title: title}
	var scripts []string
	if script != "" {
		scripts = []string{script}
	}
	err := f.contain(colours()+style, scripts, data)
	return f, err
}

// contain puts style, scripts and data into the page, and names them in its policy.
func (f *Frame) contain(style string, scripts []string, data any) error {
	style = squeezed(style)
	f.Style = template.CSS(style)
	var run []string
	if f.Library != "" {
		run = append(run, string(f.Library))
	}
	if scripts != nil {
		text, err := json.Marshal(data)
		if err != nil {
			return err
		}
		script := "\"use strict\";\n(() => {\n" + squeezed(strings.Join(scripts, "")) + "})();\n"
		f.Script, f.Data = template.JS(script), template.JS(text)
		run = append(run, script)
	}
	f.Policy = policy([]string{style}, run)
	return nil
}

// colours returns the colours of both themes as one style: that which the browser prefers, unless the page has one.
func colours() string {
	light, dark := Asset("light.css"), Asset("dark.css")
	return ":root{" + light + "}\n@media(prefers-color-scheme:dark){:root:not([data-theme=light]){" + dark + "}}\n" +
		":root[data-theme=dark]{" + dark + "}\n"
}

// squeezed returns a style or a script without indentation and without lines that are comments. Neither may have a text
// of several lines.
func squeezed(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " ")
		if line == "\n" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "/*") {
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}

// Allow adds a directive to the policy, in place of one of its name, such as connect-src 'self' of a page that a server
// keeps up to date.
func (f *Frame) Allow(directive string) { f.Policy = allow(f.Policy, directive) }

// Header returns the policy for the header of a reply with the page.
func (f *Frame) Header() string { return allow(f.Policy, unframed) }

// Execute writes a page: the skeleton with the blocks that a template of files defines, which may use the templates of
// layout.html, and the functions. The view embeds the page's frame. Control characters in texts of servers and programs
// become escapes such as \x1b.
func Execute(w io.Writer, files fs.FS, path string, functions template.FuncMap, view any) error {
	return execute(w, "layout", files, path, functions, view)
}

// ExecuteWhole writes a page of a template that has no skeleton.
func ExecuteWhole(w io.Writer, files fs.FS, path string, functions template.FuncMap, view any) error {
	return execute(w, path[strings.LastIndexByte(path, '/')+1:], files, path, functions, view)
}

func execute(w io.Writer, name string, files fs.FS, path string, functions template.FuncMap, view any) error {
	page, err := template.New("page").Funcs(template.FuncMap{"dict": dict}).Funcs(functions).
		ParseFS(assets, "assets/layout.html", "assets/parts.html")
	if err != nil {
		return err
	}
	if page, err = page.ParseFS(files, path); err != nil {
		return err
	}
	out := terminal.NewWriter(w)
	if err := page.ExecuteTemplate(out, name, view); err != nil {
		return err
	}
	return out.Flush()
}

// dict makes a map of pairs, for a template that calls another one.
func dict(pairs ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}
