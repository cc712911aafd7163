package file

import (
	"fmt"
	"math"
	"slices"

	"aiperf/internal/config/document"
	"aiperf/internal/config/option"
	"aiperf/internal/config/schema"
	"aiperf/internal/workload/recipe"
)

// The modalities of a mix.
const (
	mixImage = "image"
	mixAudio = "audio"
)

// anyKey is a key whose value is read apart.
func anyKey(name string) schema.Key { return schema.Key{Name: name, Kind: schema.Anything} }

func weightKey() schema.Key {
	return schema.Key{Name: "weight", Kind: schema.Number, Limits: option.AtLeast(0)}
}

// mediaMix reads weighted shapes of requests.
func (r *reader) mediaMix(t target, _ schema.Key, n *document.Node, path string) {
	if n.Kind != document.List || len(n.Items) == 0 {
		r.fault(n, path, "must be a list of at least one mapping with weight, text and modalities")
		return
	}
	shape := schema.Key{Fields: []schema.Key{weightKey(), {Name: "name", Kind: schema.Word}, anyKey("text"),
		anyKey("modalities")}}
	var names []string
	sum := 0.0
	for i, item := range n.Items {
		at := document.Index(path, i)
		r.section(target{Settings: t.Copy()}, shape, item, at)
		a := recipe.Archetype{Name: fmt.Sprintf("_archetype_%d", i), Weight: weightOf(item)}
		if name, given := textOf(item.Get("name")); given {
			a.Name = name
		}
		if slices.Contains(names, a.Name) {
			r.fault(item, document.Path(at, "name"), "%s is the name of another entry", a.Name)
		}
		names = append(names, a.Name)
		sum += a.Weight
		r.mixText(&a, item.Get("text"), document.Path(at, "text"))
		r.mixParts(t, &a, item.Get("modalities"), document.Path(at, "modalities"))
		if a.NoText && len(a.Parts) == 0 {
			r.fault(item, at, "has neither text nor modalities: its requests would be empty")
		}
		t.Dataset.MediaMix = append(t.Dataset.MediaMix, a)
	}
	if !(sum > 0) {
		r.fault(n, path, "must have a weight above 0")
	}
}

// weightOf is the weight of an entry, 1 without one.
func weightOf(n *document.Node) float64 {
	if w, ok := n.Get("weight").Number(); ok {
		return w
	}
	return 1
}

// mixText reads true, false, or lengths of the input and the output.
func (r *reader) mixText(a *recipe.Archetype, n *document.Node, path string) {
	if n == nil || n.Kind == document.Null {
		return
	}
	if on, ok := boolean(n); ok {
		a.NoText = !on
		return
	}
	if n.Kind != document.Map {
		r.fault(n, path, "must be true, false, or a mapping of input_tokens and output_tokens")
		return
	}
	r.section(target{}, schema.Key{Fields: []schema.Key{anyKey("input_tokens"), anyKey("output_tokens")}}, n, path)
	r.sizesIn(n, "input_tokens", path, &a.ISL)
	r.sizesIn(n, "output_tokens", path, &a.OSL)
}

// sizesIn reads the distribution of a key, if there is one.
func (r *reader) sizesIn(n *document.Node, key, path string, into *recipe.Sizes) {
	if of := n.Get(key); of != nil && of.Kind != document.Null {
		if d, ok := r.distribution(of, document.Path(path, key)); ok {
			*into = d
		}
	}
}

func (r *reader) mixParts(t target, a *recipe.Archetype, n *document.Node, path string) {
	if n == nil || n.Kind == document.Null {
		return
	}
	part := schema.Key{Fields: []schema.Key{
		{Name: "modality", Kind: schema.Choice, Values: []string{mixImage, mixAudio}, Required: true},
		anyKey("batch_size"), anyKey("profiles")}}
	var seen []string
	r.each(n, path, func(item *document.Node, at string) {
		before := len(r.faults)
		r.section(target{Settings: t.Copy()}, part, item, at)
		modality, _ := textOf(item.Get("modality"))
		if slices.Contains(seen, modality) {
			r.fault(item, document.Path(at, "modality"), "%s is in the entry twice; give it several profiles", modality)
		}
		seen = append(seen, modality)
		profiles := item.Get("profiles")
		if profiles == nil || profiles.Kind != document.List || len(profiles.Items) == 0 {
			r.fault(orPlace(profiles, item), document.Path(at, "profiles"), "must be a list of at least one mapping")
		}
		if len(r.faults) > before {
			return
		}
		p := recipe.MediaPart{Batch: recipe.Distribution{Kind: recipe.Fixed, Value: 1}}
		r.sizesIn(batchNode(item), "batch_size", at, &p.Batch)
		sum := 0.0
		for i, profile := range profiles.Items {
			at := document.Index(document.Path(at, "profiles"), i)
			made := recipe.MediaProfile{Weight: weightOf(profile)}
			if sum += made.Weight; modality == mixImage {
				made.Images = r.mixImages(t, profile, at)
			} else {
				made.Audio = r.mixAudio(t, profile, at)
			}
			p.Profiles = append(p.Profiles, made)
		}
		if !(sum > 0) {
			r.fault(profiles, document.Path(at, "profiles"), "must have a weight above 0")
		}
		a.Parts = append(a.Parts, p)
	})
}

func orPlace(n, place *document.Node) *document.Node {
	if n != nil {
		return n
	}
	return place
}

// batchNode is a part whose batch_size of min and max alone is a uniform distribution.
func batchNode(part *document.Node) *document.Node {
	b := part.Get("batch_size")
	if b == nil || b.Kind != document.Map || b.Get("mean") != nil || b.Get("type") != nil || b.Get("min") == nil ||
		b.Get("max") == nil {
		return part
	}
	own := part.Clone()
	own.Get("batch_size").Set("type", document.Of(string(recipe.Uniform)))
	return own
}

// settingsOf are settings without values, into which the keys of a profile are read.
func settingsOf(t target) target { return target{Settings: t.Copy()} }

func (r *reader) mixImages(t target, n *document.Node, path string) *recipe.Images {
	own := settingsOf(t)
	own.ImageSource.Unset()
	own.ImageFormat.Unset()
	r.section(own, schema.Key{Fields: []schema.Key{weightKey(), anyKey("width"), anyKey("height"),
		{Name: "format", Option: t.ImageFormat.Row()},
		{Name: "source", Kind: schema.Choice, Values: []string{"noise", "assets"}, Option: t.ImageSource.Row()}}}, n,
		path)
	side := recipe.Distribution{Kind: recipe.Fixed, Value: 512}
	out := &recipe.Images{Width: side, Height: side, Format: "jpeg", Source: "noise"}
	if own.ImageFormat.IsSet() {
		out.Format = own.ImageFormat.Get()
	}
	if own.ImageSource.IsSet() {
		out.Source = own.ImageSource.Get()
	}
	r.sizesIn(n, "width", path, &out.Width)
	r.sizesIn(n, "height", path, &out.Height)
	return out
}

func (r *reader) mixAudio(t target, n *document.Node, path string) *recipe.Audio {
	own := settingsOf(t)
	fields := []schema.Key{weightKey(), anyKey("length")}
	for _, k := range []struct {
		name string
		of   option.Field
	}{{"format", &own.AudioFormat}, {"sample_rates", &own.AudioSampleRates}, {"depths", &own.AudioDepths},
		{"channels", &own.AudioNumChannels}} {
		k.of.Unset()
		fields = append(fields, schema.Key{Name: k.name, Option: k.of.Row()})
	}
	r.section(own, schema.Key{Fields: fields}, n, path)
	out := &recipe.Audio{Seconds: recipe.Distribution{Kind: recipe.Fixed, Value: 10}, Format: own.AudioFormat.Get(),
		Channels: 1}
	if c := own.AudioNumChannels.Pointer(); c != nil {
		out.Channels = int(*c)
	}
	numbers := func(of *option.Opt[[]any], factor float64) (list []int) {
		for _, v := range of.Get() {
			if x, ok := document.Of(v).Number(); ok {
				list = append(list, int(math.Round(min(x*factor, math.MaxInt32))))
			}
		}
		return list
	}
	out.RatesHz, out.Depths = numbers(&own.AudioSampleRates, 1000), numbers(&own.AudioDepths, 1)
	r.sizesIn(n, "length", path, &out.Seconds)
	return out
}
