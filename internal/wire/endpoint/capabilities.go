package endpoint

import "aiperf/internal/measure/metrics"

// Capabilities sets, in a configuration of metrics, what replies of a type contain.
func Capabilities(d *Descriptor, c *metrics.Config) {
	c.ProducesTokens, c.TokenizesInput = d.ProducesTokens, d.TokenizesInput
	c.SupportsAudio, c.SupportsImage, c.SupportsVideo = d.SupportsAudio, d.SupportsImage || d.ProducesImages,
		d.SupportsVideo
	c.ProducesVideo, c.ProducesImages, c.ProducesAudio = d.ProducesVideo, d.ProducesImages, d.ProducesAudio
}
