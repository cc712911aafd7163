package file

import (
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/pattern"
	"aiperf/internal/config"
	"aiperf/internal/config/document"
	"aiperf/internal/config/option"
	"aiperf/internal/config/schema"
	"aiperf/internal/config/settings"
)

// FromRun is the file that describes the run of a command line. In the place of secrets are references to variables of
// the environment, which it lists.
func FromRun(r *config.Run) (tree *document.Node, variables []string) {
	body := document.Of(ExportedWhole(r))
	p := r.Asked
	keep(body.Get("artifacts"), "dir", p.ArtifactDir.Given())
	if !p.Tokenizer.Given() {
		body.Delete("tokenizer")
	}
	endpoint := body.Get("endpoint")
	keep(endpoint, "type", !p.EndpointPlugin.Given())
	keep(endpoint, "path", !p.SageMakerEndpointName.Given())
	phases := body.Get("phases")
	if r.Submission != nil { // the scenario makes the phases before it
		phases.Items = phases.Items[len(phases.Items)-1:]
	}
	for _, ph := range phases.Items {
		ph.Delete("fail_fast")
		ph.Delete("exclude_from_results")
		if rate := ph.Get("rate"); rate != nil && rate.Kind == document.Null {
			ph.Set("rate", document.Of("inf"))
		}
	}
	data := body.Get("datasets").Items[0]
	data.Delete("random_seed")
	keep(data, "system_prompt", !p.SystemPromptFile.Given())
	if r.Dataset.Format == "random_pool" && data.Get("sampling") == nil {
		data.Set("sampling", document.Of("shuffle")) // what flags leave to the format; files are sequential
	}
	envelope := &document.Node{Kind: document.Map}
	envelope.Set("schema_version", document.Of("2.0"))
	envelope.Set("benchmark", body)
	complement(schema.Envelope(), envelope, "", p)
	for _, section := range []string{"artifacts", "network_latency", "runtime"} {
		if n := body.Get(section); n != nil && len(n.Members) == 0 {
			body.Delete(section)
		}
	}
	w := &withheld{}
	w.replace(envelope, "")
	return envelope, w.variables
}

func keep(n *document.Node, key string, kept bool) {
	if n != nil && !kept {
		n.Delete(key)
	}
}

// complement adds the keys of options that were given and are not in the tree.
func complement(k schema.Key, n *document.Node, kind string, p *settings.Settings) {
	for _, f := range k.Fields {
		if kind != "" && !f.Has(kind) {
			continue
		}
		there := n.Get(f.Name)
		switch {
		case f.Name == "datasets" || f.Name == "phases" || f.Name == "items":
			for _, item := range orNull(there).Items {
				own, _ := textOf(item.Get("type"))
				if name, _ := textOf(item.Get("name")); name != warmup {
					complement(f, item, own, p)
				}
			}
		case there == nil && kind != "" && (f.Name == "images" || f.Name == "audio" || f.Name == "video"):
			// no media are sent: the section would turn them on
		case f.Holds() == schema.Section:
			section := there
			if section == nil {
				section = &document.Node{Kind: document.Map}
			}
			if section.Kind == document.Map {
				complement(f, section, kind, p)
			}
			if there == nil && len(section.Members) > 0 {
				n.Set(f.Name, section)
			}
		case there != nil || f.Option == nil || f.Kind != schema.ByOption || !p.Field(f.Option).Given():
		default:
			if v := plainValue(p.Field(f.Option).Value()); v != nil && !elsewhere(f.Option) {
				n.Set(f.Name, document.Of(v))
			}
		}
	}
}

// elsewhere reports whether an option is in the tree under another key, or where its value is not what the key holds.
func elsewhere(o *option.Option) bool {
	t := option.Rows()
	return slices.Contains([]option.Field{&t.ExportLevel, &t.GPUTelemetry, &t.Stream, &t.OTelResourceAttributes,
		&t.SeqDist,
		&t.RandomRangeRatio, &t.NetworkLatencyAutomatic, &t.FixedScheduleAutoOffset, &t.ExtraInputs, &t.InputFile,
		&t.DatasetFilter, &t.ArrivalPattern, &t.RequestRate, &t.ResetKVCache, &t.Goodput, &t.ModelNames}, t.Field(o))
}

// urlIndex is the number of a URL in the path of its headers.
var urlIndex = pattern.New(`\bendpoint\.urls\[(\d+)\]`)

// withheld puts references to variables in the place of secrets.
type withheld struct{ variables []string }

func (w *withheld) replace(n *document.Node, path string) {
	for _, m := range n.Members {
		w.replace(m.Value, document.Path(path, m.Key))
	}
	for i, item := range n.Items {
		w.replace(item, document.Index(path, i))
	}
	if n.Kind != document.Text || !strings.Contains(n.Written, artifact.Redacted) {
		return
	}
	name := "AIPERF_API_KEY"
	if !strings.HasSuffix(path, "endpoint.api_key") {
		last := path[strings.LastIndexByte(path, '.')+1:]
		name = "BENCH_" + strings.ToUpper(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return '_'
		}, last))
		if of := urlIndex.FindStringSubmatch(path); of != nil {
			name += "_" + of[1] // each URL has its own
		}
	}
	w.variables = append(w.variables, name)
	text := strings.ReplaceAll(n.Written, artifact.Redacted, "${"+name+"}")
	n.Scalar, n.Written = text, text
}
