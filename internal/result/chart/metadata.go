package chart

import (
	"strconv"

	"aiperf/internal/base/artifact"
)

// points writes the values of the drawn layers as JSON.
func (p *painter) points() string {
	f := p.figure
	out := append(axisJSON([]byte(`{"x":`), &f.X, p.x), `,"y":`...)
	out = axisJSON(out, &f.Y, p.y)
	if f.Y2 != nil {
		out = axisJSON(append(out, `,"y2":`...), f.Y2, p.y2)
	}
	out = append(out, `,"layers":[`...)
	for i, l := range p.drawn {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, "\n"+`{"kind":"`+l.Kind.String()+`"`...)
		if l.Name != "" {
			out = artifact.AppendString(append(out, `,"name":`...), l.Name)
		}
		if l.Right {
			out = append(out, `,"right":true`...)
		}
		out = append(out, `,"points":`...)
		out = strconv.AppendInt(out, int64(f.Layers[i].size()), 10)
		for _, part := range [...]struct {
			name   string
			values []float64
		}{{"x", l.X}, {"y", l.Y}, {"low", l.Low}, {"high", l.High}, {"x_end", l.XEnd}} {
			if len(part.values) > 0 {
				out = numbersJSON(append(out, `,"`+part.name+`":`...), part.values)
			}
		}
		if len(l.Labels) > 0 {
			out = textsJSON(append(out, `,"labels":`...), l.Labels)
		}
		out = append(out, '}')
	}
	return string(append(out, "]}"...))
}

func axisJSON(out []byte, a *Axis, s *scale) []byte {
	out = artifact.AppendString(append(out, `{"label":`...), a.Label)
	if s.log {
		out = append(out, `,"log":true`...)
	}
	if len(a.Categories) > 0 {
		out = textsJSON(append(out, `,"categories":`...), a.Categories)
	}
	return append(out, '}')
}

func numbersJSON(out []byte, values []float64) []byte {
	out = append(out, '[')
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		if artifact.Finite(v) {
			out = strconv.AppendFloat(out, v, 'g', -1, 64)
		} else {
			out = append(out, "null"...)
		}
	}
	return append(out, ']')
}

func textsJSON(out []byte, texts []string) []byte {
	out = append(out, '[')
	for i, t := range texts {
		if i > 0 {
			out = append(out, ',')
		}
		out = artifact.AppendString(out, t)
	}
	return append(out, ']')
}
