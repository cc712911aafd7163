package chart

import (
	"io"
	"testing"
)

func BenchmarkPNG(b *testing.B) {
	for _, name := range []string{"scatter", "percentiles", "cloud", "longline", "legend", "bands", "timeline"} {
		f := gallery()[name]
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := f.PNG(io.Discard, Light, DefaultSize()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSVG(b *testing.B) {
	for _, name := range []string{"scatter", "cloud", "longline"} {
		f := gallery()[name]
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := f.SVG(io.Discard, Light, DefaultSize()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
