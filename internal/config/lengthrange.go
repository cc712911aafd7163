package config

import (
	"encoding/json"
	"errors"
	"strings"

	"aiperf/internal/base/scalar"
)

// LengthRange is a window around the mean lengths, or below them.
type LengthRange struct {
	Input, Output float64
	// Mode says whose definition of the window is followed: "vllm" or "sglang".
	Mode string
}

// StyleSGLang is the definition of the window that reaches from a share of the length to the length.
const StyleSGLang = "sglang"

// lengthRange is nil if no window was asked for.
func (d *draft) lengthRange() *LengthRange {
	if !d.given("random-range-ratio") {
		return nil
	}
	r, _ := parseRange(d.p.Text("random-range-ratio")) // checked before
	r.Mode = d.randomStyle()
	return &r
}

// randomStyle is whose way of making random prompts is followed, for the window of lengths and for the
// tokens that are drawn.
func (d *draft) randomStyle() string {
	if d.given("random-range-ratio-mode") {
		return d.p.Text("random-range-ratio-mode")
	}
	return d.p.Text("random-corpus-style")
}

// parseRange reads one ratio for both lengths, or an object with one for each.
func parseRange(text string) (LengthRange, error) {
	const shape = `write a number such as 0.3, or {"input":0.3,"output":0}`
	if text = strings.TrimSpace(text); !strings.HasPrefix(text, "{") {
		x, err := scalar.Number(text)
		if err != nil {
			return LengthRange{}, errors.New(shape)
		}
		return LengthRange{Input: x, Output: x}, nil
	}
	var both struct {
		Input  *float64 `json:"input"`
		Output *float64 `json:"output"`
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&both); err != nil || dec.More() || both.Input == nil || both.Output == nil {
		return LengthRange{}, errors.New(shape)
	}
	return LengthRange{Input: *both.Input, Output: *both.Output}, nil
}

func (d *draft) checkLengthRange() {
	if d.given("random-range-ratio-mode") && d.given("random-corpus-style") &&
		d.p.Text("random-range-ratio-mode") != d.p.Text("random-corpus-style") {
		d.fault("", "%s and %s say different things: the style decides the window of lengths and the tokens "+
			"together; give one of them",
			d.flag("random-range-ratio-mode"), d.flag("random-corpus-style"))
	}
	if !d.given("random-range-ratio") {
		if d.given("random-range-ratio-mode") && d.corpus() != "random" {
			d.warn("%s has no effect without --random-range-ratio", d.flag("random-range-ratio-mode"))
		}
		return
	}
	r, err := parseRange(d.p.Text("random-range-ratio"))
	if err != nil {
		d.fault("", "%s: %v", d.flag("random-range-ratio"), err)
		return
	}
	mode := d.lengthRange().Mode
	for _, x := range []float64{r.Input, r.Output} {
		if !(x >= 0 && (x < 1 || x == 1 && mode == StyleSGLang)) {
			d.fault("", "%s must be at least 0 and below 1, or up to 1 with --random-corpus-style sglang",
				d.flag("random-range-ratio"))
			break
		}
	}
	if d.positive("isl-stddev") || d.positive("osl-stddev") {
		d.warn("the standard deviations of --isl and --osl have no effect with %s, which draws lengths uniformly",
			d.flag("random-range-ratio"))
	}
}
