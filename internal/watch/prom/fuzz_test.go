package prom_test

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/prom"
)

// FuzzParse holds what is true of any bodies: a known body gives what it gave when it was new, whether
// a body is valid does not depend on earlier ones, and what is kept is sorted and finite.
func FuzzParse(f *testing.F) {
	f.Add("# TYPE a counter\na_total{x=\"1\"} 5 # {t=\"x\"} 1\n", "# TYPE a gauge\r\na 5 12\r\n")
	f.Add("# HELP h x\\n\n# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n",
		"h_bucket 2\n# TYPE h histogram")
	f.Add("{\"my.metric\",a=\"\\\\\"} 1e3\n\n x  NaN", "{\"a\": 1}")
	f.Add("# TYPE s summary\ns{quantile=\"0.5\"} 1\n# TYPE i info\ni_info{v=\"1\"} 1\n# EOF", "a{x=\"\xff\\\n\"} 1\n")
	f.Fuzz(func(t *testing.T, first, second string) {
		p := prom.NewParser(prom.Options{Notice: func(prom.NoticeKind, string, string) {}, MaxSeries: 100})
		for _, body := range []string{first, second, first} {
			fresh := prom.NewParser(prom.Options{MaxSeries: 100})
			learned, freshErr := fresh.Parse([]byte(body), false)
			want := dump(learned)
			for range 2 {
				samples, err := p.Parse([]byte(body), false)
				if (err == nil) != (freshErr == nil) {
					t.Fatalf("with a past: %v, without: %v", err, freshErr)
				}
				checkSamples(t, samples)
			}
			again(t, fresh, body, want)
		}
		// Summaries change nothing of the other samples.
		with, without := prom.NewParser(prom.Options{Summaries: true}), prom.NewParser(prom.Options{})
		for _, body := range []string{first, second} {
			apart, apartErr := with.Parse([]byte(body), false)
			samples, err := without.Parse([]byte(body), false)
			if dump(apart) != dump(samples) || (apartErr == nil) != (err == nil) {
				t.Fatalf("with summaries\n%s(%v), without\n%s(%v)", dump(apart), apartErr, dump(samples), err)
			}
		}
	})
}

// again parses a body with a parser that knows it.
func again(t *testing.T, p *prom.Parser, body, want string) {
	samples, err := p.Parse([]byte(body), false)
	if got := dump(samples); got != want {
		t.Fatalf("%sthen\n%s", want, got)
	}
	var syntax *prom.SyntaxError
	if err != nil && (!errors.As(err, &syntax) || syntax.Line < 1 || syntax.Line > 1+strings.Count(body, "\n")) {
		t.Fatalf("error %v", err)
	}
}

func checkSamples(t *testing.T, samples []prom.Sample) {
	seen := map[*prom.Series]bool{}
	for _, s := range samples {
		if seen[s.Series] {
			t.Fatalf("two samples of %s", s.Series.Family.Name)
		}
		seen[s.Series] = true
		for i, l := range s.Series.Labels {
			if i > 0 && s.Series.Labels[i-1].Name >= l.Name {
				t.Fatalf("labels %v", s.Series.Labels)
			}
		}
		if len(s.Buckets) != len(s.Series.Bounds) || len(s.Buckets) != len(s.Series.Upper) {
			t.Fatalf("%d buckets for %v", len(s.Buckets), s.Series.Bounds)
		}
		for i, v := range append(append([]float64{s.Value, s.Sum, s.Count}, s.Buckets...), 0) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("value %d of %s is %v", i, s.Series.Family.Name, v)
			}
		}
		for i := 1; i < len(s.Series.Upper); i++ {
			if s.Series.Upper[i-1] >= s.Series.Upper[i] {
				t.Fatalf("bounds %v", s.Series.Upper)
			}
		}
	}
}

// FuzzNumber holds the values of samples to strconv, bit by bit.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"1", "-0", "0.1", "1e22", "1e23", "9007199254740993", "1.5E-7", "+Inf", "nan", "0x1p3",
		"1_0", ".", "1e", "12345678901234567.25"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, " \t\r\n") {
			return
		}
		samples, parseErr := prom.NewParser(prom.Options{}).Parse([]byte("a{} "+s+"\nb 7"), false)
		want, err := strconv.ParseFloat(s, 64)
		valid := (err == nil || errors.Is(err, strconv.ErrRange)) && !strings.ContainsAny(s, "xXpP_")
		finite := !math.IsNaN(want) && !math.IsInf(want, 0)
		switch {
		case (parseErr == nil) != valid:
			t.Fatalf("%q: %v, strconv %v", s, parseErr, err)
		case valid && finite && (len(samples) != 2 || math.Float64bits(samples[0].Value) != math.Float64bits(want)):
			t.Fatalf("%q: %s, strconv %v", s, dump(samples), want)
		case valid && (len(samples) == 0 || samples[len(samples)-1].Value != 7):
			t.Fatalf("%q: %s, and the next line has 7", s, dump(samples))
		case valid && !finite && len(samples) != 1:
			t.Fatalf("%q: %s, and %v is dropped", s, dump(samples), want)
		}
	})
}

// FuzzURL holds what is true of any address: normalising twice changes nothing, and nothing shows the
// secrets of a URL.
func FuzzURL(f *testing.F) {
	f.Add("localhost:8000", "hunter2")
	f.Add("grpcs://user:pw@h:8001/v1/?token=x#y", "s3cret")
	f.Add("h", "a b c")
	f.Fuzz(func(t *testing.T, raw, secret string) {
		u, err := prom.NormalizeURL(raw)
		if err == nil {
			if again, err := prom.NormalizeURL(u); err != nil || again != u {
				t.Fatalf("%q → %q → %q, %v", raw, u, again, err)
			}
		}
		if prom.RedactURL(prom.RedactURL(raw)) != prom.RedactURL(raw) {
			t.Fatalf("%q redacted twice", raw)
		}
		if len(secret) < 4 || strings.ContainsAny(secret, "/?#&;@<>") ||
			bytes.Contains([]byte(artifact.Redacted+"http://h:1/metrics?tokenx=1"), []byte(secret)) {
			return
		}
		shown := prom.RedactURL("http://u:" + secret + "@h:1/metrics?token=" + secret + "&x=1")
		if strings.Contains(shown, secret) || strings.Contains(prom.Display(shown), secret) {
			t.Fatalf("%q shows %q", shown, secret)
		}
	})
}
