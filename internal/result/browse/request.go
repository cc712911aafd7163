package browse

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/base/webpage"
	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/library"
)

// requestView is a request: what it was, its picture, what was sent and received, and its record.
type requestView struct {
	Facts, IDs []webpage.Fact
	Fault      string
	Waterfall  *waterfall
	// Session and Beside are the addresses of the requests of its session and of those in flight at the same time.
	Session, Beside string
	Exchange        []textBlock
	Note            string
	Record          string
	// Pending reports that the raw export is being indexed.
	Pending bool
}

// textBlock is a text with a title.
type textBlock struct{ Title, Text string }

// maxShown bounds a text on a page, in bytes; all of it is in the files.
const maxShown = 2 << 20

// requestOf reads a request by the number in its address. It answers itself, and returns nil, where there is none yet,
// or none at all.
func (s *Server) requestOf(w http.ResponseWriter, r *http.Request, it *item, wait func(*indexed)) *requestView {
	if !it.folder.HasRecords {
		s.fail(w, r, http.StatusNotFound, "There are no records of requests", "")
		return nil
	}
	m := s.indexes.of(it, config.RecordsJSONL)
	if !m.done.wait(r.Context(), answerSoon) {
		wait(m)
		return nil
	}
	number, err := strconv.Atoi(r.PathValue("number"))
	if m.err != nil || err != nil || number < 1 || number > m.x.Len() {
		s.fail(w, r, http.StatusNotFound, "There is no such request", "")
		return nil
	}
	line, err := m.x.Line(number - 1)
	if err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, "The request cannot be read", err.Error())
		return nil
	}
	v := &requestView{Record: indented(line), Waterfall: newWaterfall(line)}
	if of, err := recordfile.ParseRequest(line); err == nil {
		v.describe(it, of)
	}
	s.exchange(r, it, line, v)
	return v
}

// describe adds what the line says in words.
func (v *requestView) describe(it *item, of *recordfile.Request) {
	to := &v.Facts
	add := func(name, value string) {
		if value != "" {
			*to = append(*to, webpage.Fact{Name: name, Value: value})
		}
	}
	const millis = "2006-01-02 15:04:05.000"
	if of.StartNS > 0 {
		add("Sent (UTC)", time.Unix(0, of.StartNS).UTC().Format(millis))
	}
	for _, tag := range library.Tags {
		d, ok := metrics.Lookup(tag)
		if x := of.Number(tag); ok && x != nil {
			add(d.Header, strings.TrimSpace(artifact.Short(*x)+" "+string(d.Display)))
		}
	}
	add("Turn", strconv.Itoa(of.TurnIndex))
	add("Phase", of.Phase)
	to = &v.IDs
	add("Conversation", of.ConversationID)
	add("Session", of.CorrelationID)
	add("Id", of.RequestID)
	v.Fault = of.Failure()
	at := "/r/" + it.id + "/requests?"
	if session := of.Session(); session != "" {
		v.Session = at + url.Values{"q": {session}}.Encode()
	}
	if of.EndNS > of.StartNS && of.StartNS > 0 {
		v.Beside = at + string(library.InFlight) + "=" + stamp(of.StartNS) + between + stamp(of.EndNS)
	}
}

// stamp writes an instant as an address has it.
func stamp(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000Z") }

// exchange adds what was sent and received, if that was recorded.
func (s *Server) exchange(r *http.Request, it *item, line []byte, v *requestView) {
	if !hasRaw(it) {
		v.Note = "What was sent and received is recorded with --export-level raw."
		return
	}
	names := s.indexes.of(it, config.RawJSONL)
	if v.Pending = !names.done.wait(r.Context(), answerSoon); v.Pending {
		v.Note = "The raw export is being indexed."
		return
	}
	if names.err != nil {
		v.Note = "The raw export cannot be read: " + names.err.Error()
		return
	}
	v.Note = "The raw export has no line of this request."
	i := names.x.Named(jsonscan.FindText(jsonscan.Find(line, "metadata"), "x_request_id"))
	if i < 0 {
		return
	}
	text, err := names.x.Line(i)
	if err != nil {
		v.Note = "The raw export cannot be read: " + err.Error()
		return
	}
	v.Note = ""
	if sent := jsonscan.Find(text, "payload"); sent != nil {
		v.Exchange = append(v.Exchange, textBlock{"Sent", indented(sent)})
	}
	title := "Received"
	if status := string(jsonscan.Find(text, "status")); status != "" {
		title += " · status " + status
	}
	v.Exchange = append(v.Exchange, textBlock{title, received(jsonscan.Find(text, "responses"))})
}

// received are the responses of a raw line as text: the data of events, or the body.
func received(raw []byte) string {
	const most = 2000
	var list []struct {
		Text    *string `json:"text"`
		Packets []struct{ Name, Value string }
	}
	if json.Unmarshal(raw, &list) != nil {
		return shortened(indented(raw))
	}
	var out []string
	for _, p := range list[:min(len(list), most)] {
		if p.Text != nil {
			out = append(out, *p.Text)
		}
		for _, packet := range p.Packets {
			if packet.Name == "data" {
				out = append(out, strings.TrimSpace(packet.Value))
			}
		}
	}
	if len(out) == 0 {
		return "nothing"
	}
	return shortened(strings.Join(out, "\n"))
}

// indented writes JSON for people; what is none stays as it is.
func indented(raw []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return shortened(string(raw))
	}
	return shortened(out.String())
}

func shortened(text string) string {
	if len(text) > maxShown {
		return strings.ToValidUTF8(text[:maxShown], "") + "\n…"
	}
	return text
}

// body is the content of the page of a request, which the dialog shows too.
func (v *requestView) body() (template.HTML, error) {
	var out bytes.Buffer
	err := webpage.ExecuteWhole(&out, assets, "assets/exchange.html", functions, v)
	return template.HTML(out.String()), err
}

// oneRequest answers with a request as a piece of a page.
func (s *Server) oneRequest(w http.ResponseWriter, r *http.Request, _ *shelf, it *item) {
	v := s.requestOf(w, r, it, func(m *indexed) { pending(w, m) })
	if v == nil {
		return
	}
	body, err := v.body()
	if err != nil {
		s.fail(w, r, http.StatusInternalServerError, "The request cannot be shown", err.Error())
		return
	}
	answerJSON(w, map[string]any{"body": body, "rawPending": v.Pending})
}

// requestPage is the page of a request.
func (s *Server) requestPage(w http.ResponseWriter, r *http.Request, sh *shelf, it *item) {
	of := s.requestOf(w, r, it, func(*indexed) { s.waiting(w, r, "The records are being indexed") })
	if of == nil {
		return
	}
	v := struct {
		webpage.Frame
		Name          string
		Body          template.HTML
		Before, After string
		Number        int
		Requests      string
	}{Name: it.name}
	requests := s.indexes.of(it, config.RecordsJSONL).x.Len()
	v.Requests = artifact.GroupThousands(strconv.Itoa(requests))
	v.Number, _ = strconv.Atoi(r.PathValue("number"))
	at := "/r/" + it.id + "/requests/"
	if v.Number > 1 {
		v.Before = at + strconv.Itoa(v.Number-1)
	}
	if v.Number < requests {
		v.After = at + strconv.Itoa(v.Number+1)
	}
	v.Title, v.Skip = "Request #"+artifact.GroupThousands(strconv.Itoa(v.Number)), "request"
	v.Nav = navigation(sh, it, "requests")
	if of.Pending {
		v.Refresh = 1
	}
	var err error
	if v.Body, err = of.body(); err != nil {
		s.fail(w, r, http.StatusInternalServerError, "The request cannot be shown", err.Error())
		return
	}
	s.show(w, r, "request", controls, &v.Frame, map[string]any{"number": v.Number}, &v)
}
