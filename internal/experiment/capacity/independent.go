package capacity

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"aiperf/internal/config"
)

// IdleBound is the longest wait between two probes until the servers have no request left, see [run.IdleWatch].
const IdleBound = 30 * time.Second

// Independent returns the configuration of a probe whose requests no earlier probe of the same search has sent, so that
// the server's prefix cache does not make later probes faster: generated prompts are drawn with a seed of the probe's
// own. remark says what may still be shared, "" if nothing: prompts of files and of published data sets are the same
// each time.
func Independent(cfg *config.Run, number int) (own *config.Run, remark string) {
	copied := *cfg
	if cfg.RandomSeed != nil {
		// Not a sum: with sums, the probes of neighbouring seeds would be the same.
		sum := sha256.Sum256(fmt.Appendf(nil, "%d:probe:%d", *cfg.RandomSeed, number))
		seed := uint64(binary.BigEndian.Uint32(sum[:4]))
		copied.RandomSeed = &seed
	}
	if cfg.Dataset.Kind != config.SyntheticDataset && cfg.Dataset.CacheBust == "" && cfg.Endpoint.ResetCache == nil {
		remark = "all probes send the prompts of the same data set, so a prefix cache can make the later ones faster: " +
			"give --reset-kv-cache, or --cache-bust to mark the prompts"
	}
	return &copied, remark
}
