package sweep_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/config/document"
	"aiperf/internal/experiment/sweep"
)

// rate is a body of one value.
func rate(v *sweep.Variation) (*document.Node, error) {
	n := v.Envelope().Get("benchmark").Get("phases").Items[1].Get("rate")
	if n.Scalar == int64(13) {
		return nil, errors.New("13 is refused")
	}
	return n, nil
}

func TestOutput(t *testing.T) {
	p := plan(t, `sweep: {type: zip, parameters: {rate: [1, 2.5], endpoint.url: ["http://u:secret@h", `+
		`"http://h"]}}`, body)
	one, far := 1, 7
	const head = "Sweep type: zip (2 variations)\n\n"
	const first = "[0] dir=urls_httpredacted@h__rate_1  label=endpoint.urls=http://<redacted>@h, " +
		"phases.profiling.rate=1\n"
	const second = "[1] dir=urls_httph__rate_2.5  label=endpoint.urls=http://h, phases.profiling.rate=2.5\n"
	for _, c := range []struct {
		o    sweep.Output
		want string
	}{
		{sweep.Output{Format: sweep.Text}, head + first + second},
		{sweep.Output{Format: sweep.Text, Full: true}, head + first + "    1\n\n" + second + "    2.5\n\n"},
		{sweep.Output{Format: sweep.Text, Index: &one},
			"Sweep type: zip (showing 1 of 2)\n\n" + second + "    2.5\n\n"},
		{sweep.Output{Format: sweep.YAML, Index: &one}, `sweep_type: zip
variations:
  - index: 1
    dir_name: urls_httph__rate_2.5
    label: endpoint.urls=http://h, phases.profiling.rate=2.5
    values:
      endpoint.urls: http://h
      phases.profiling.rate: 2.5
    benchmark: 2.5
`},
	} {
		c.o.Body = rate
		var got bytes.Buffer
		if err := p.Write(&got, c.o); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(c.want, got.String()); diff != "" {
			t.Errorf("%+v: %s", c.o, diff)
		}
	}
	err := p.Write(&bytes.Buffer{}, sweep.Output{Format: sweep.Text, Index: &far})
	if err == nil || err.Error() != "--index 7 out of range; sweep has 2 variation(s)." {
		t.Error(err)
	}
	var single bytes.Buffer
	if err := plan(t, "", body).Write(&single, sweep.Output{Format: sweep.JSON}); err != nil {
		t.Error(err)
	}
	want := `{
  "sweep_type": "none",
  "variations": [
    {
      "index": 0,
      "dir_name": "base",
      "label": "base",
      "values": {}
    }
  ]
}
`
	if diff := cmp.Diff(want, single.String()); diff != "" {
		t.Error(diff)
	}
	single.Reset()
	if err := plan(t, "", body).Write(&single, sweep.Output{Format: sweep.Text}); err != nil || single.String() !=
		"Sweep type: none (1 variation)\n\n[0] dir=base  label=base\n" {
		t.Error(single.String(), err)
	}
	err = plan(t, `sweep: {type: grid, parameters: {rate: [12, 13]}}`, body).Write(&single,
		sweep.Output{Format: sweep.JSON, Full: true, Body: rate})
	if err == nil || err.Error() != "variation 1 (phases.profiling.rate=13): 13 is refused" {
		t.Error(err)
	}
}

func TestSecretsAreNotSwept(t *testing.T) {
	for _, path := range []string{"endpoint.api_key", "endpoint.headers.Authorization"} {
		wantFault(t, `sweep: {type: grid, parameters: {`+path+`: [s3cret1, s3cret2]}}`, body, "secret")
		_, err := expand(t, `sweep: {type: grid, parameters: {`+path+`: [s3cret1, s3cret2]}}`, body)
		if strings.Contains(strings.Split(err.Error(), "\n")[0], "s3cret") {
			t.Error(err)
		}
	}
	p := plan(t, runs(`{name: a, benchmark: {endpoint: {api_key: s3cret}}}`), body)
	var got bytes.Buffer
	if err := p.Write(&got, sweep.Output{Format: sweep.JSON}); err != nil || strings.Contains(got.String(), "s3cret") {
		t.Error(got.String(), err)
	}
}
