// Package webpage makes the pages of this program: those that are files and those that a server answers. It holds
// what they share: the chart library, the looks, and the script of their charts (common.js), which reads the page's data
// and runs before a page's own script. A page contains its scripts, styles and data.
//
// Invariants: a page's content security policy allows its own scripts and styles alone, by their hashes, and no request
// beyond what its maker names. Data stand in the page as JSON in which no character can end the element.
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

//go:embed assets/page.css assets/common.js assets/parts.html
//go:embed assets/uPlot.iife.min.js assets/uPlot.min.css assets/uPlot.LICENSE
var assets embed.FS

// Asset returns a file that pages share by its name; one that does not exist panics.
func Asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// Frame is what makes a page self-contained. A page's view embeds it; its template writes the fields where they belong.
type Frame struct {
	Policy                string
	Style                 template.CSS
	Library, Script, Data template.JS
	License               string
}

// NewFrame returns the frame of a page with charts: with its data, its own script, which runs after common.js, and its
// own styles.
func NewFrame(of any, script string, styles ...string) (Frame, error) {
	data, err := json.Marshal(of)
	if err != nil {
		return Frame{}, err
	}
	style := Asset("uPlot.min.css") + Asset("page.css") + strings.Join(styles, "")
	library := Asset("uPlot.iife.min.js")
	script = "\"use strict\";\n(() => {\n" + Asset("common.js") + script + "})();\n"
	return Frame{
		Style: template.CSS(style), Library: template.JS(library), Script: template.JS(script), Data: template.JS(data),
		Policy: policy([]string{style}, []string{library, script}), License: Asset("uPlot.LICENSE"),
	}, nil
}

// NewPlainFrame returns the frame of a page without charts: with its data, its script and its style.
func NewPlainFrame(of any, script, style string) (Frame, error) {
	data, err := json.Marshal(of)
	if err != nil {
		return Frame{}, err
	}
	return Frame{Style: template.CSS(style), Script: template.JS(script), Data: template.JS(data),
		Policy: policy([]string{style}, []string{script})}, nil
}

// StyledFrame returns the frame of a page that has no script.
func StyledFrame(style string) Frame {
	return Frame{Style: template.CSS(style), Policy: policy([]string{style}, nil)}
}

// Allow adds a directive to the policy, in place of one of its name, such as connect-src 'self' of a page that a server
// keeps up to date.
func (f *Frame) Allow(directive string) { f.Policy = allow(f.Policy, directive) }

// Header returns the policy for the header of a reply with the page.
func (f *Frame) Header() string { return allow(f.Policy, unframed) }

// ExecutePage writes the page of a template of files. The template may use those of parts.html, and the functions.
// Control characters in texts of servers and programs become escapes such as \x1b.
func ExecutePage(w io.Writer, files fs.FS, path string, functions template.FuncMap, view any) error {
	name := path[strings.LastIndexByte(path, '/')+1:]
	page, err := template.New(name).Funcs(template.FuncMap{"dict": dict}).Funcs(functions).ParseFS(files, path)
	if err != nil {
		return err
	}
	if page, err = page.ParseFS(assets, "assets/parts.html"); err != nil {
		return err
	}
	out := terminal.NewWriter(w)
	if err := page.Execute(out, view); err != nil {
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
