package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/api"
	"aiperf/internal/workload/dataset"
)

// conversationFile is a file of testdata/conversations: where the shape of the reply comes from, the
// request, the reply as it comes over the wire, what is decoded of it, and the request of the next turn.
type conversationFile struct {
	archive *txtar.Archive
	setting map[string]string
}

func openConversation(t *testing.T, path string) *conversationFile {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := &conversationFile{archive, map[string]string{}}
	if !bytes.HasPrefix(archive.Comment, []byte("Source: ")) {
		t.Errorf("%s names no source", path)
	}
	for line := range strings.Lines(f.section("setting")) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		f.setting[key] = value
	}
	return f
}

func (f *conversationFile) section(name string) string {
	for _, s := range f.archive.Files {
		if s.Name == name {
			return string(s.Data)
		}
	}
	return ""
}

func (f *conversationFile) set(name, text string) {
	for i, s := range f.archive.Files {
		if s.Name == name {
			f.archive.Files[i].Data = []byte(text)
			return
		}
	}
	f.archive.Files = append(f.archive.Files, txtar.File{Name: name, Data: []byte(text)})
}

func (f *conversationFile) endpoint(t *testing.T) Endpoint {
	o := Options{Model: "m", Streaming: f.setting["streaming"] == "true", Encode: func(dst []int, text string) []int {
		return append(dst, len(text))
	}}
	for _, m := range [][2]string{{templateKey, "template"}, {fieldKey, "field"}} {
		if text := f.setting[m[1]]; text != "" {
			quoted, _ := json.Marshal(text)
			o.Extra = append(o.Extra, dataset.Field{Name: m[0], Value: quoted})
		}
	}
	e, err := New(f.setting["type"], o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// turn is the first turn of the conversation, which shows, plays or lists what the setting says.
func (f *conversationFile) turn() *dataset.Turn {
	turn := limited(text("Name three\n rivers."), 9)
	if list := f.setting["passages"]; list != "" {
		turn.Texts = namedTexts("query", "Rivers?", "passages", list)
	}
	if image := f.setting["image"]; image != "" {
		turn.Images = media(image)
	}
	if audio := f.setting["audio"]; audio != "" {
		turn.Texts, turn.Audios = nil, media(audio)
	}
	if payload := f.setting["payload"]; payload != "" {
		turn.RawPayload = json.RawMessage(payload)
	}
	return turn
}

// decode feeds the reply; event k of a stream comes at instant (k+1)*10.
func (f *conversationFile) decode(e Endpoint) Decoder {
	d := e.NewDecoder()
	reply := f.section("reply")
	if f.setting["streaming"] != "true" {
		d.Body("application/json", false, []byte(reply), 10)
		return d
	}
	for k, event := range strings.Split(strings.TrimSpace(reply), "\n\n") {
		var name, data []byte
		for line := range strings.Lines(event) {
			line = strings.TrimSpace(line)
			if rest, ok := strings.CutPrefix(line, "event: "); ok {
				name = []byte(rest)
			} else {
				data = []byte(strings.TrimPrefix(line, "data: "))
			}
		}
		d.Event(name, data, int64(k+1)*10)
	}
	return d
}

// decoded tells a reply in lines.
func decoded(r *Reply) string {
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "%s: %v\n", name, value) }
	line("content at", r.ContentNS)
	if r.FirstOutputNS != 0 {
		line("first output at", r.FirstOutputNS)
	}
	if len(r.Output) > 0 {
		line("output", strconv.Quote(string(r.Output)))
	}
	if len(r.Reasoning) > 0 {
		line("reasoning", strconv.Quote(string(r.Reasoning)))
	}
	if r.OutputIDs > 0 {
		line("output ids", r.OutputIDs)
	}
	if r.Images > 0 {
		line("images", r.Images)
	}
	if r.AudioBytes > 0 {
		line("sound", fmt.Sprintf("%d bytes, %d with the first, %v s", r.AudioBytes, r.FirstAudioBytes, r.AudioSeconds))
	}
	if r.InferenceSeconds != nil {
		line("inference", *r.InferenceSeconds)
	}
	if r.PeakMemoryMB != nil {
		line("peak memory", *r.PeakMemoryMB)
	}
	for q, name := range []string{"prompt", "completion", "total", "reasoning", "cache read", "cache write",
		"cache miss"} {
		if n, ok := r.Usage.Value(record.UsagePrompt + record.Field(q)); ok {
			line(name+" tokens", n)
		}
	}
	line("finished", r.Finished)
	if r.Err != nil || r.Malformed > 0 || r.OtherChoices > 0 {
		line("trouble", fmt.Sprint(r.Err, r.Malformed, r.OtherChoices))
	}
	return b.String()
}

// nextRequest is the request of a second turn, or why there is none.
func nextRequest(e Endpoint, c *Context, r *Reply) string {
	assistant := r.AppendAssistant(nil)
	turns := []Turn{c.Turns[0]}
	if len(assistant) > 0 {
		turns = append(turns, Turn{Assistant: assistant, AssistantID: r.ID})
	}
	body, err := e.Encode(&Context{Turns: append(turns, Turn{Turn: limited(text("Why?"), 9)}), RequestID: "r2",
		CorrelationID: "c"})
	if err != nil {
		return err.Error() + "\n"
	}
	return string(body.Bytes) + "\n"
}

func TestGoldenConversations(t *testing.T) {
	paths, err := filepath.Glob("testdata/conversations/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	seen, streamed := map[string]bool{}, map[string]bool{}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			f := openConversation(t, path)
			e := f.endpoint(t)
			seen[f.setting["type"]], streamed[f.setting["type"]] = true, streamed[f.setting["type"]] ||
				f.setting["streaming"] == "true"
			c := &Context{Turns: []Turn{{Turn: f.turn()}}, RequestID: "r1", CorrelationID: "c"}
			body, err := e.Encode(c)
			if err != nil {
				t.Fatal(err)
			}
			d := f.decode(e)
			defer d.Release()
			for _, s := range []struct{ name, got string }{
				{"request", strings.ReplaceAll(string(body.Bytes), "\r\n", "\n") + "\n"},
				{"decoded", decoded(d.Reply())}, {"next", nextRequest(e, c, d.Reply())},
			} {
				if testkit.UpdateGolden() {
					f.set(s.name, s.got)
				} else if want := f.section(s.name); s.got != want {
					t.Errorf("%s:\n%swant\n%s", s.name, s.got, want)
				}
			}
			if testkit.UpdateGolden() {
				if err := os.WriteFile(path, txtar.Format(f.archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	for _, d := range api.All() {
		if !seen[d.Name] || d.StreamsOnly && !streamed[d.Name] {
			t.Errorf("%s has no conversation", d.Name)
		}
	}
}
