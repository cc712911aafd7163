package loader

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"aiperf/internal/workload/dataset"
)

// The names of speakers in a ShareGPT conversation.
var (
	humans  = []string{"human", "user"}
	systems = []string{"system"}
)

func isShareGPT(o *object) bool {
	var said []struct {
		From  *string `json:"from"`
		Value *string `json:"value"`
	}
	return json.Unmarshal(o.members["conversations"], &said) == nil && len(said) > 0 && said[0].From != nil &&
		said[0].Value != nil
}

// startsShareGPT reports whether a file is a JSON array whose first conversation is one of ShareGPT.
func startsShareGPT(path string) bool {
	in, err := Open(path)
	if err != nil {
		return false
	}
	defer in.Close()
	dec := json.NewDecoder(io.LimitReader(in, detectLimit))
	if token, err := dec.Token(); err != nil || token != json.Delim('[') || !dec.More() {
		return false
	}
	var item json.RawMessage
	if dec.Decode(&item) != nil {
		return false
	}
	o, err := parseObject(item)
	return err == nil && isShareGPT(o)
}

// shareGPTReader reads conversations of ShareGPT.
type shareGPTReader struct{ *load }

// readShareGPT reads conversations of ShareGPT: a JSON array of them, or one a line. What people said are the turns;
// the replies are those of the server.
func readShareGPT(from *load) error {
	l := shareGPTReader{from}
	empty := 0
	add := func(item []byte) {
		if !l.add(item) {
			empty++
		}
	}
	err := l.eachItem(add)
	if empty > 0 {
		l.notef("%d conversations of %s are left out: they have no message of a user", empty, l.path)
	}
	return err
}

// eachItem calls f with the items of a JSON array, or with the lines of a file that is none.
func (l shareGPTReader) eachItem(f func(item []byte)) error {
	in, err := Open(l.path)
	if err != nil {
		return err
	}
	defer in.Close()
	dec := json.NewDecoder(in)
	token, err := dec.Token()
	if err == nil && token != json.Delim('[') {
		return l.eachLine(f)
	}
	for err == nil && dec.More() {
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		var item json.RawMessage
		if err = dec.Decode(&item); err == nil {
			mistakes := l.mistaken
			l.line = 0
			f(item)
			if l.mistaken > mistakes && l.mistaken <= maxErrors { // the line is looked for where it is reported
				line := LineAt(l.path, dec.InputOffset()-int64(len(item)))
				last := &l.mistakes[len(l.mistakes)-1]
				*last = strings.Replace(*last, l.path+":0:", fmt.Sprintf("%s:%d:", l.path, line), 1)
			}
		}
	}
	if err == nil {
		_, err = dec.Token()
	}
	if err != nil && err != io.EOF || err == io.EOF && token != nil {
		l.line = LineAt(l.path, faultOffset(l.path))
		l.errorf("%v", jsonError(err))
	}
	return nil
}

// add reads one conversation; false means that it has no turn.
func (l shareGPTReader) add(item []byte) bool {
	o, err := parseObject(item)
	if err != nil {
		l.errorf("%v", err)
		return true
	}
	var list []struct {
		From  string `json:"from"`
		Value string `json:"value"`
	}
	if !o.has("conversations") || json.Unmarshal(o.members["conversations"], &list) != nil {
		l.errorf(`field "conversations": want a list of {"from", "value"}`)
		return true
	}
	id, err := o.text("id")
	if err != nil {
		id = ""
	}
	if _, taken := l.sessions[id]; taken {
		id = ""
	}
	var turns []dataset.Turn
	var system []string
	for _, s := range list {
		who := strings.ToLower(s.From)
		switch text := strings.TrimSpace(s.Value); {
		case text == "":
		case slices.Contains(humans, who):
			turns = append(turns, dataset.Turn{Texts: []dataset.Media{{Contents: []string{s.Value}}}})
		case slices.Contains(systems, who):
			system = append(system, s.Value)
		}
	}
	if len(turns) == 0 {
		return false
	}
	c := l.conversation(id)
	c.Turns = turns
	if len(system) > 0 {
		text := strings.Join(system, "\n")
		c.SystemMessage = &text
	}
	return true
}
