package analysis

import (
	"io"

	"aiperf/internal/base/webpage"
)

// WriteHTML writes the page.
func (b *Book) WriteHTML(w io.Writer) error {
	conversations := make([]map[string]any, len(b.Conversations))
	for i, c := range b.Conversations {
		turns := make([]map[string]any, len(c.Turns))
		for k := range c.Turns {
			t := &c.Turns[k]
			messages := make([][2]any, len(t.Messages))
			for j, m := range t.Messages {
				messages[j] = [2]any{m.Role, m.Body}
			}
			turns[k] = map[string]any{
				"index": t.Index, "ms": t.MS, "phase": t.Phase, "note": t.Note, "failed": t.Failed,
				"messages": messages, "repeated": t.Repeated,
			}
		}
		conversations[i] = map[string]any{"id": c.ID, "name": c.Name, "parent": c.Parent, "depth": c.Depth,
			"turns": turns, "hidden": c.Hidden}
	}
	bodies := make([][2]any, len(b.Bodies))
	for i, body := range b.Bodies {
		bodies[i] = [2]any{body.Text, body.Rest}
	}
	frame, err := frameOf("transcript", b.Title+": messages by turn",
		map[string]any{"conversations": conversations, "bodies": bodies})
	if err != nil {
		return err
	}
	return webpage.ExecuteWhole(w, pages, "transcriptpage.html", nil, struct {
		webpage.Frame
		Hidden, Shown int
	}{frame, b.Hidden, len(b.Conversations)})
}
