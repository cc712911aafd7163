package sweep

import (
	"errors"
	"fmt"
	"io"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config/document"
)

// The formats of [Plan.Write].
const (
	Text = "text"
	YAML = "yaml"
	JSON = "json"
)

// ErrSearch is the error of [Plan.Write] for an adaptive search.
var ErrSearch = errors.New("an adaptive_search chooses its points while it runs, so that there is nothing to list; " +
	"sweeps of type grid, zip, scenarios, sobol and latin_hypercube can be expanded")

// Output says what [Plan.Write] writes.
type Output struct {
	// Format is Text, YAML or JSON.
	Format string
	// Full adds the complete configuration of each variation; Index, not nil, shows that variation alone, in full.
	Full  bool
	Index *int
	// Body is called for the complete configuration of each variation: the "benchmark:" of its envelope, rendered, with
	// defaults, without secrets. Its error ends the output before it begins. nil checks nothing.
	Body func(*Variation) (*document.Node, error)
}

// Write writes the variations: a line each, or trees for programs.
func (p *Plan) Write(w io.Writer, o Output) error {
	if p.Type == AdaptiveSearch {
		return ErrSearch
	}
	list := p.Variations
	if o.Index != nil {
		if *o.Index < 0 || *o.Index >= len(list) {
			return fmt.Errorf("--index %d out of range; sweep has %d variation(s).", *o.Index, len(list))
		}
		list = list[*o.Index : *o.Index+1]
		o.Full = true
	}
	bodies := make([]*document.Node, len(list))
	for i := range list {
		if o.Body == nil {
			continue
		}
		body, err := o.Body(&list[i])
		if err != nil {
			return list[i].failed(err)
		}
		if o.Full {
			bodies[i] = body
		}
	}
	if o.Format == Text {
		return p.text(w, list, bodies, o.Index != nil)
	}
	d := PlanDocument{Type: p.Type}
	for i, v := range list {
		values, _ := artifact.HideSensitive(v.Values).(artifact.Object)
		one := VariationDocument{Index: v.Index, Dir: v.Dir, Label: v.Label, Values: values}
		if bodies[i] != nil {
			one.Body = bodies[i].Any()
		}
		d.Variations = append(d.Variations, one)
	}
	tree := artifact.ObjectOf(d)
	if o.Format == JSON {
		return artifact.WriteIndented(w, tree)
	}
	_, err := w.Write(document.AppendYAML(nil, document.Of(tree), 0))
	return err
}

// PlanDocument is the expanded plan of a sweep.
type PlanDocument struct {
	Type       string              `json:"sweep_type"`
	Variations []VariationDocument `json:"variations"`
}

// VariationDocument is a variation; Body is its configuration where that was asked for.
type VariationDocument struct {
	Index  int             `json:"index"`
	Dir    string          `json:"dir_name"`
	Label  string          `json:"label"`
	Values artifact.Object `json:"values"`
	Body   any             `json:"benchmark,omitempty"`
}

// bodyIndent is the margin of a configuration below the line of its variation.
const bodyIndent = 4

func (p *Plan) text(w io.Writer, list []Variation, bodies []*document.Node, part bool) error {
	shown := fmt.Sprintf("%d variations", len(p.Variations))
	switch {
	case part:
		shown = fmt.Sprintf("showing 1 of %d", len(p.Variations))
	case len(p.Variations) == 1:
		shown = "1 variation"
	}
	text := fmt.Appendf(nil, "Sweep type: %s (%s)\n\n", p.Type, shown)
	for i, v := range list {
		text = fmt.Appendf(text, "[%d] dir=%s  label=%s\n", v.Index, terminal.Text(v.Dir), terminal.Text(v.Label))
		if bodies[i] != nil {
			text = append(document.AppendYAML(text, bodies[i], bodyIndent), '\n')
		}
	}
	_, err := w.Write(text)
	return err
}

// failed is the error of a variation whose configuration is not valid.
func (v *Variation) failed(err error) error {
	if v.Label == "base" {
		return err
	}
	return fmt.Errorf("variation %d (%s): %w", v.Index, v.Label, err)
}
