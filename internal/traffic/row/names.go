package row

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/wire/api"
	"aiperf/internal/workload/recording"
)

// maxName is the length of the longest name that is written.
const maxName = 128

// isPlain reports whether a name looks like those of models: one word, and no sentence.
func isPlain(name string) bool {
	for i := range len(name) {
		c := name[i] | 0x20 // in lower case
		letter := c >= 'a' && c <= 'z' || name[i] >= '0' && name[i] <= '9'
		if !letter && (i == 0 || strings.IndexByte("._:/@+-", name[i]) < 0) {
			return false
		}
	}
	return len(name) <= maxName
}

// PlainName is what is written of the name of a model or a tokenizer: of a path its last element, and "other" for what
// looks like no name, since clients may write anything there.
func PlainName(name string) string {
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") ||
		strings.Contains(name, `\`) {
		name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	}
	if isPlain(name) {
		return name
	}
	return other
}

// maxModels bounds the names of models of a recording; one beyond is written as "other".
const maxModels = 10_000

// models are the names of models of a recording, as they are written.
type models struct {
	rename bool
	mu     sync.Mutex
	names  map[string]string
}

// Model is what is written of the name of a model.
func (m *Memory) Model(name string) string {
	if name == "" {
		return ""
	}
	m.models.mu.Lock()
	defer m.models.mu.Unlock()
	if written, known := m.models.names[name]; known {
		return written
	}
	if len(m.models.names) >= maxModels {
		return other
	}
	written := PlainName(name)
	if m.models.rename {
		written = fmt.Sprintf("model-%d", len(m.models.names)+1)
	}
	m.models.names[name] = written
	return written
}

// Names are the names of models that were written.
func (m *Memory) Names() []string {
	m.models.mu.Lock()
	defer m.models.mu.Unlock()
	names := []string{"", other}
	for _, written := range m.models.names {
		names = append(names, written)
	}
	return names
}

// Enumerated reports whether a text is one of those that rows hold whatever was said: a name of a member, an endpoint
// type, an outcome, a stop reason or what is said of a request that could not be read.
func Enumerated(text string) bool {
	_, known := enumerated()[text]
	return known || slices.Contains(reasons, text)
}

// enumerated is made once, when a check asks.
var enumerated = sync.OnceValue(func() map[string]struct{} {
	all := map[string]struct{}{}
	add := func(texts ...string) {
		for _, text := range texts {
			all[text] = struct{}{}
		}
	}
	for _, d := range api.All() {
		add(d.Name)
	}
	add(sampling...)
	add(recording.Keeps()...)
	add(other, "ok", "error", "broken", "cancelled", "unreached")
	return all
})

// Clean takes from a row that a file holds what could be a text: values that no row of ours has. Its model is named as
// in all rows.
func (m *Memory) Clean(row *recording.Row) {
	row.Model = m.Model(row.Model)
	row.Request, row.Reply = nil, nil
	if !Enumerated(row.Endpoint) {
		row.Endpoint = other
	}
	if !slices.Contains([]string{"ok", "error", "broken", "cancelled", "unreached"}, row.Outcome) {
		row.Outcome = "error"
	}
	row.StopReason = reasonOf(row.StopReason)
	if row.Incomplete != "" && row.Incomplete != recording.NoReply {
		row.Incomplete = Incomplete
	}
	for name, value := range row.Sampling {
		if !slices.Contains(sampling, name) || !plain(value) {
			delete(row.Sampling, name)
		}
	}
}

// Incomplete is what is said of a row of another recording that lacks something.
const Incomplete = "incomplete"

// EndpointOf is the endpoint type of a request whose path is not known, by what it and its reply look like.
func EndpointOf(request, reply []byte) string {
	has := func(name string) bool { return jsonscan.Find(request, name) != nil }
	switch {
	case jsonscan.FindText(reply, "type") == "message", has("messages") && has("system"):
		return "messages"
	case has("messages"):
		return "chat"
	case has("prompt"):
		return "completions"
	case jsonscan.FindText(reply, "object") == "response", has("input") && has("instructions"),
		has("input") && has("max_output_tokens"), listOfObjects(jsonscan.Find(request, "input")):
		return "responses"
	case has("input"):
		return "embeddings"
	case has("inputs"):
		return "huggingface_generate"
	}
	return other
}

func listOfObjects(list []byte) bool {
	for item := range jsonscan.Elements(list) {
		return len(item) > 0 && item[0] == '{'
	}
	return false
}
