package browse

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/webpage"
	"aiperf/internal/result/library"
)

// frame is what all pages have.
type frame struct {
	webpage.Frame
	Title, Version, Theme string
	Nav                   navigationView
}

// functions are those of the templates.
var functions = template.FuncMap{"short": artifact.Short, "clock": clock, "bytes": sizeText, "words": words}

// words writes a word of a file for people.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func sizeText(n int64) string {
	const unit = 1000
	v := float64(n)
	for _, name := range []string{"B", "kB", "MB", "GB"} {
		if v < unit || name == "GB" {
			return artifact.Short(v) + " " + name
		}
		v /= unit
	}
	return ""
}

// allow adds to the policy of a page what the pages here need: data of this server, their images and forms.
func allow(f *webpage.Frame) {
	for _, directive := range []string{"form-action 'self'", "connect-src 'self'", "img-src 'self' data: blob:"} {
		f.Allow(directive)
	}
}

// show writes a page of a template. The view is a pointer to a struct with a frame.
func (s *Server) show(w http.ResponseWriter, r *http.Request, name string, f *frame, data any, view any) {
	own, err := webpage.NewFrame(data, asset(name+".js"), asset("site.css"))
	if err != nil {
		s.fail(w, r, http.StatusInternalServerError, "The page cannot be made", err.Error())
		return
	}
	allow(&own)
	f.Frame, f.Version, f.Theme = own, s.o.Version, s.theme(r)
	var out bytes.Buffer
	if err := webpage.ExecutePage(&out, assets, "assets/"+name+".html", functions, view); err != nil {
		s.fail(w, r, http.StatusInternalServerError, "The page cannot be made", err.Error())
		return
	}
	send(w, http.StatusOK, out.Bytes())
}

// send answers with a page within the policy that it names.
func send(w http.ResponseWriter, status int, page []byte) {
	head := w.Header()
	head.Set("Content-Security-Policy", webpage.HeaderOf(page))
	head.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page)
}

// theme returns light, dark or "".
func (s *Server) theme(r *http.Request) string {
	if c, err := r.Cookie("aiperf-theme"); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return s.o.Theme
}

// waiting writes a page that asks again until what it waits for is ready.
func (s *Server) waiting(w http.ResponseWriter, r *http.Request, text string) {
	s.short(w, r, http.StatusOK, shortView{Text: text + ".", Again: true}, "Please wait")
}

// shortView is a page of a sentence; Again makes the browser ask again.
type shortView struct {
	frame
	Text  string
	Again bool
}

// fail writes an error as a page for a browser, as JSON for a script.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": title, "detail": text})
		return
	}
	s.short(w, r, status, shortView{Text: text}, title)
}

func (s *Server) short(w http.ResponseWriter, r *http.Request, status int, v shortView, title string) {
	v.Frame = webpage.StyledFrame(webpage.Asset("page.css") + asset("site.css"))
	allow(&v.Frame)
	v.Title, v.Version, v.Theme, v.Nav = title, s.o.Version, s.theme(r), navigation(nil, nil, "")
	var out bytes.Buffer
	if err := webpage.ExecutePage(&out, assets, "assets/fail.html", functions, &v); err != nil {
		http.Error(w, title, status)
		return
	}
	send(w, status, out.Bytes())
}

// answer writes data as JSON.
func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// tab is a page of an item.
type tab struct{ Path, Name, Key string }

// tabs returns the pages that an item has.
func tabs(it *item) []tab {
	at := "/r/" + it.id
	switch {
	case it.folder.Kind == library.Run && it.folder.HasRecords:
		return []tab{{at, "Report", "report"}, {at + "/figures", "Figures", "figures"},
			{at + "/requests", "Requests", "requests"}, {at + "/files", "Files", "files"}}
	case it.folder.Kind == library.Run || it.folder.Kind == library.Repeats:
		return []tab{{at + "/figures", "Figures", "figures"}, {at + "/files", "Files", "files"}}
	}
	return []tab{{at, "Report", "report"}, {at + "/files", "Files", "files"}}
}

// navigation is the bar on top of a page: the list, what the item is a part of, and its pages.
func navigation(sh *shelf, it *item, key string) navigationView {
	v := navigationView{Key: key}
	if it != nil {
		for p := it.folder.Parent; p >= 0; p = sh.items[p].folder.Parent {
			v.Steps = append([]step{{"/r/" + sh.items[p].id, sh.items[p].name}}, v.Steps...)
		}
		v.Here, v.Tabs = it.name, tabs(it)
		if n := len(v.Steps); n > 0 {
			v.Here = strings.TrimPrefix(strings.TrimPrefix(it.name, v.Steps[n-1].Name), "/")
		}
	} else {
		v.Here = key
	}
	return v
}

// step is a page that leads to this one.
type step struct{ Path, Name string }

// navigationView is the bar on top of a page: what leads to it, and its tabs, of which Key is this one. Lead stands
// before the tabs.
type navigationView struct {
	Steps           []step
	Tabs            []tab
	Key, Here, Lead string
}

// Markup returns the bar as markup.
func (v navigationView) Markup() template.HTML {
	var out bytes.Buffer
	if err := navTemplate().Execute(&out, v); err != nil {
		return "" // it is embedded
	}
	return template.HTML(out.String())
}

var navTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("nav").Parse(strings.ReplaceAll(asset("nav.html"), "\n", "")))
})

// within puts the bar into a page of another room.
func (s *Server) within(r *http.Request, page []byte, nav navigationView) []byte {
	text := bytes.Replace(page, []byte("<header>"), []byte(string(nav.Markup())+"<header>"), 1)
	if theme := s.theme(r); theme != "" {
		text = bytes.Replace(text, []byte(`<html lang="en">`), []byte(`<html lang="en" data-theme="`+theme+`">`), 1)
	}
	return text
}
