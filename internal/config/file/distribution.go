package file

import (
	"aiperf/internal/config/document"
	"aiperf/internal/config/schema"
	"aiperf/internal/workload/recipe"
)

// distribution reads a number, or a mapping of one.
func (r *reader) distribution(n *document.Node, path string) (recipe.Distribution, bool) {
	if v, ok := number(n); ok {
		return recipe.Distribution{Kind: recipe.Fixed, Value: v}, true
	}
	mean, _ := number(orNull(n.Get("mean")))
	dev, _ := number(orNull(n.Get("stddev")))
	return recipe.Distribution{Kind: recipe.Gaussian, Mean: mean, Stddev: dev}, true
}
func (r *reader) mediaMix(t target, _ schema.Key, n *document.Node, path string)  {}
func (r *reader) userFiles(t target, _ schema.Key, n *document.Node, path string) {}

func expected(d recipe.Distribution) float64         { return max(d.Mean, d.Value) }
func put(field *recipe.Sizes, d recipe.Distribution) {}
func lengthPair(isl, osl recipe.Distribution, percent float64) recipe.LengthPair {
	return recipe.LengthPair{}
}

func render(_ *document.File, n *document.Node) (*document.Node, error) { return n, nil }
