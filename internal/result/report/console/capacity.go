package console

import (
	"io"

	"aiperf/internal/result/answer"
	"aiperf/internal/result/judge"
)

// RenderCapacity writes how much load a server takes within limits: the answer with its interval, what bound first,
// the curve, the knee and the recommended operating point, the cost and the command that repeats the measurement.
func RenderCapacity(w io.Writer, c *answer.Capacity, o Options) error {
	p := newPage(&o)
	p.blank(2)
	p.line(span{product + " | Capacity", title})
	p.field("Answer", c.Headline(), outcomeStyle(c.Outcome))
	p.field("Measured", c.Measured(), plain)
	p.field("Limits", limitTexts(c.Limits), plain)
	p.field("Bound first", c.Bound(), plain)
	if c.Why != nil {
		p.field("Why", c.Why.Title+": "+c.Why.Text, plain)
		p.field("Try", c.Why.Advice, plain)
	}
	p.field("Knee", c.Curve.Point(c.Curve.Knee), plain)
	p.field("Recommended", c.Curve.Point(c.Curve.Recommended), plain)
	if c.Price != nil {
		p.field("Cost", c.Price.String(), plain)
	}
	p.curve(&c.Curve, o.ASCII)
	p.blank(1)
	for _, note := range c.Notes {
		p.field("Note", note, yellow)
	}
	p.field("Spent", c.Spent.String(), plain)
	if c.Command != "" {
		// One line, so that it can be copied.
		p.line(span{pad(fieldWidth-len("Repeat:")-1) + "Repeat: ", bold}, span{safe(c.Command), plain})
	}
	_, err := w.Write(p.bytes(o.Styles))
	return err
}

func outcomeStyle(o answer.Outcome) style {
	switch o {
	case answer.NotEvenSmallest:
		return looks[judge.Bad]
	case answer.Undecided:
		return looks[judge.Warn]
	}
	return looks[judge.Good]
}

// fieldWidth is the width of the names of fields.
const fieldWidth = 13

// field appends a name with its value, which wraps beside it; nothing for no value.
func (p *page) field(name, value string, look style) {
	if value == "" {
		return
	}
	for i, line := range wrap(safe(value), p.width-fieldWidth) {
		if i > 0 {
			p.line(span{pad(fieldWidth) + line, look})
			continue
		}
		p.line(span{pad(fieldWidth-len(name)-2) + name + ": ", bold}, span{line, look})
	}
}
