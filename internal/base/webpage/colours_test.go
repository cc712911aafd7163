package webpage_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"

	"aiperf/internal/base/webpage"
)

// What the eye sees of linear RGB, by Machado, Oliveira and Fernandes (2009) at severity 1.
var eyes = map[string][3][3]float64{
	"all cones": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413},
		{-0.011820, 0.042940, 0.968881}},
	"protanopia": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216},
		{-0.003882, -0.048116, 1.051998}},
}

type vector [3]float64

func (v vector) through(m [3][3]float64) (out vector) {
	for i := range m {
		for k := range v {
			out[i] += m[i][k] * v[k]
		}
	}
	return out
}

// linear is a colour of a theme in linear RGB.
func linear(t *testing.T, theme, name string) (out vector) {
	t.Helper()
	m := regexp.MustCompile(`--` + name + `:#([0-9a-f]{6})[;}]`).FindStringSubmatch(webpage.Asset(theme + ".css"))
	if m == nil {
		t.Fatalf("%s has no %s", theme, name)
	}
	for i := range out {
		n, err := strconv.ParseUint(m[1][2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if out[i] = c / 12.92; c > 0.04045 {
			out[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return out
}

var toXYZ = [3][3]float64{{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750},
	{0.0193339, 0.1191920, 0.9503041}}

// lab is a colour in CIELAB, in which distances are those that are seen.
func (v vector) lab() vector {
	for i := range v {
		v[i] = min(max(v[i], 0), 1)
	}
	xyz := v.through(toXYZ)
	for i, white := range [3]float64{0.95047, 1, 1.08883} {
		if x := xyz[i] / white; x > 0.008856 {
			xyz[i] = math.Cbrt(x)
		} else {
			xyz[i] = 7.787*x + 16.0/116
		}
	}
	return vector{116*xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])}
}

func (v vector) luminance() float64 { return v.through(toXYZ)[1] }

// The six hues of lines are told apart by the colour-blind, too, and stand out from the panel.
func TestHuesDifferForEveryEye(t *testing.T) {
	const (
		leastDistance = 18 // eight times what is just seen side by side
		leastContrast = 3  // of graphics, by WCAG 2.2
	)
	for theme, white := range map[string]bool{"light": true, "dark": false} {
		panel := vector{1, 1, 1}
		if !white {
			panel = linear(t, theme, "panel")
		}
		for i := 1; i <= 6; i++ {
			name := fmt.Sprintf("c%d", i)
			colour := linear(t, theme, name)
			light, dark := max(colour.luminance(), panel.luminance()), min(colour.luminance(), panel.luminance())
			if got := (light + 0.05) / (dark + 0.05); got < leastContrast {
				t.Errorf("%s: %s has contrast %.2f", theme, name, got)
			}
			for k := 1; k < i; k++ {
				other := fmt.Sprintf("c%d", k)
				for eye, matrix := range eyes {
					a, b := colour.through(matrix).lab(), linear(t, theme, other).through(matrix).lab()
					if d := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]); d < leastDistance {
						t.Errorf("%s, %s: %s and %s differ by %.1f", theme, eye, other, name, d)
					}
				}
			}
		}
	}
}
