package webserver

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"io/fs"
	"strings"
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

// NewFrame returns the frame of a page with its data, its own script, which runs after common.js, and its own styles.
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
		Policy: "default-src 'none'; style-src " + Source(style) + "; script-src " + Source(library) + " " +
			Source(script) + "; base-uri 'none'; form-action 'none'",
		License: Asset("uPlot.LICENSE"),
	}, nil
}

// Allow adds a directive to the policy, such as connect-src 'self' of a page that a server keeps up to date.
func (f *Frame) Allow(directive string) { f.Policy += "; " + directive }

// ExecutePage writes the page of a template of files. The template may use those of parts.html, and the functions.
func ExecutePage(w io.Writer, files fs.FS, path string, functions template.FuncMap, view any) error {
	name := path[strings.LastIndexByte(path, '/')+1:]
	page, err := template.New(name).Funcs(template.FuncMap{"dict": dict}).Funcs(functions).ParseFS(files, path)
	if err != nil {
		return err
	}
	if page, err = page.ParseFS(assets, "assets/parts.html"); err != nil {
		return err
	}
	return page.Execute(w, view)
}

// dict makes a map of pairs, for a template that calls another one.
func dict(pairs ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}

// Source returns the source expression of the policy for an element: the hash of its content.
func Source(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
