package analysis

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed transcriptpage.html
var transcriptPageText string

// WriteHTML writes the page.
func (b *Book) WriteHTML(w io.Writer) error {
	page, err := template.New("turn messages").Parse(transcriptPageText)
	if err != nil {
		return err
	}
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
	return page.Execute(w, map[string]any{
		"Title": b.Title, "Hidden": b.Hidden, "Shown": len(b.Conversations),
		"Data": map[string]any{"conversations": conversations, "bodies": bodies},
	})
}
