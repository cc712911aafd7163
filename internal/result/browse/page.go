package browse

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/webpage"
	"aiperf/internal/result/library"
)

// functions are those of the templates.
var functions = template.FuncMap{"short": artifact.Short, "clock": clock, "bytes": sizeText}

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

// controls are the parts of the pages here that have charts in no place.
const controls = webpage.Sorted | webpage.Controls

// show writes a page of a template, with a script that is named alike. The view has the frame, and is a pointer.
func (s *Server) show(w http.ResponseWriter, r *http.Request, name string, parts webpage.Parts, f *webpage.Frame,
	data any, view any) {
	script := asset(name + ".js")
	if strings.HasPrefix(name, "request") { // both show records
		script = asset("record.js") + script
	}
	page, err := s.page(r, name, webpage.Content{Parts: parts, Script: script, Data: data}, f, view)
	if err != nil {
		s.fail(w, r, http.StatusInternalServerError, "The page cannot be made", err.Error())
		return
	}
	send(w, http.StatusOK, page)
}

// page makes a page of a template, with the looks and the policy of the pages here.
func (s *Server) page(r *http.Request, name string, c webpage.Content, f *webpage.Frame, view any) ([]byte, error) {
	c.Style = asset("site.css")
	if err := f.Contain(c); err != nil {
		return nil, err
	}
	allow(f)
	f.Version, f.Theme, f.Served = s.o.Version, s.theme(r), true
	var out bytes.Buffer
	err := webpage.Execute(&out, assets, "assets/"+name+".html", functions, view)
	return out.Bytes(), err
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
	v := shortView{Text: text + "."}
	v.Title, v.Refresh = "Please wait", 1
	s.short(w, r, http.StatusOK, v)
}

// shortView is a page of a sentence.
type shortView struct {
	webpage.Frame
	Text string
}

// fail writes an error as a page for a browser, as JSON for a script.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": title, "detail": text})
		return
	}
	v := shortView{Text: text}
	v.Title = title
	s.short(w, r, status, v)
}

func (s *Server) short(w http.ResponseWriter, r *http.Request, status int, v shortView) {
	v.Nav = navigation(nil, nil, "")
	page, err := s.page(r, "fail", webpage.Content{Parts: controls}, &v.Frame, &v)
	if err != nil {
		http.Error(w, v.Title, status)
		return
	}
	send(w, status, page)
}

// answerJSON writes data as JSON.
func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// tabs returns the pages that an item has.
func tabs(it *item) []webpage.Tab {
	at := "/r/" + it.id
	report := webpage.Tab{Path: at, Name: "Report", Key: "report"}
	figures := webpage.Tab{Path: at + "/figures", Name: "Figures", Key: "figures"}
	requests := webpage.Tab{Path: at + "/requests", Name: "Requests", Key: "requests"}
	files := webpage.Tab{Path: at + "/files", Name: "Files", Key: "files"}
	switch {
	case it.facts.Running && it.folder.Kind != library.Search || it.folder.File == "" && it.folder.Kind != library.Run:
		return []webpage.Tab{figures, files}
	case it.folder.Kind == library.Run && it.folder.HasRecords:
		return []webpage.Tab{report, figures, requests, files}
	case it.folder.Kind == library.Repeats:
		return []webpage.Tab{report, files}
	case it.folder.Kind == library.Run:
		return []webpage.Tab{figures, files}
	}
	return []webpage.Tab{report, files}
}

// navigation is the bar on top of a page: the list, what the item is a part of, and its pages.
func navigation(sh *shelf, it *item, key string) *webpage.Navigation {
	v := &webpage.Navigation{Key: key}
	if it != nil {
		for p := it.folder.Parent; p >= 0; p = sh.items[p].folder.Parent {
			v.Steps = append([]webpage.Step{{Path: "/r/" + sh.items[p].id, Name: sh.items[p].name}}, v.Steps...)
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

// within puts the bar into a page of another room.
func (s *Server) within(r *http.Request, page []byte, nav *webpage.Navigation) []byte {
	return webpage.Within(page, nav, s.theme(r))
}
