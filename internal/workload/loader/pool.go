package loader

import (
	"errors"
	"fmt"

	"aiperf/internal/workload/dataset"
)

// Batches are how many contents of each modality a turn drawn from a pool has, in the order text,
// image, audio, video.
type Batches [4]int

// single reports that a turn has what one entry of each pool has.
func (b *Batches) single() bool { return b == nil || *b == Batches{1, 1, 1, 1} }

// defaultDraws is the number of conversations drawn from pools where nobody says another one.
const defaultDraws = 100

var poolKeys = append([]string{"type"}, contentKeys...)

// pool is the entries of one file.
type pool struct {
	name    string
	entries []dataset.Turn
}

// poolReader draws conversations from pools.
type poolReader struct{ *load }

// readPools reads entries, one file or a folder of files, and draws conversations from them.
func readPools(from *load) error {
	l := poolReader{from}
	files, others, err := filesAt(l.path, dataNames...)
	if err != nil {
		return err
	}
	l.noteSkipped(others)
	var pools []pool
	for _, file := range files {
		p := pool{name: baseName(file)}
		err := l.eachFile([]string{file}, func(line []byte) { l.add(&p, line) })
		if err != nil {
			return err
		}
		if len(p.entries) == 0 && l.mistaken == 0 {
			return fmt.Errorf("%s contains no records", file)
		}
		pools = append(pools, p)
	}
	if l.mistaken > 0 || len(pools) == 0 {
		return nil
	}
	n := l.options.Draws
	if n == 0 {
		n = defaultDraws
	}
	l.line = 0
	draw := l.drawEntries(pools)
	if !l.options.Batches.single() {
		if draw, err = l.drawContents(pools); err != nil {
			return err
		}
	}
	for k := range n {
		l.conversation("").Turns = []dataset.Turn{draw(uint64(k))}
	}
	l.notef("%d conversations are drawn from %d pools with replacement: entries repeat", n, len(pools))
	return nil
}

func (l poolReader) add(p *pool, line []byte) {
	o, _, ok := l.object(line, poolKeys)
	if !ok {
		return
	}
	var t dataset.Turn
	err := l.contents(o, &t)
	if err == nil && len(t.Texts)+len(t.Images)+len(t.Audios)+len(t.Videos) == 0 {
		err = errNoContent
	}
	if err != nil {
		l.errorOf(o, err)
		return
	}
	p.entries = append(p.entries, t)
}

// media4 lists the modalities of a turn in their order.
func media4(t *dataset.Turn) [4]*[]dataset.Media {
	return [4]*[]dataset.Media{&t.Texts, &t.Images, &t.Audios, &t.Videos}
}

// drawEntries draws an entry of each pool for each conversation; contents without a name get that of
// their pool.
func (l poolReader) drawEntries(pools []pool) func(k uint64) dataset.Turn {
	stream := l.options.Seed.Stream("dataset.loader.random_pool")
	for _, p := range pools {
		for i := range p.entries {
			for _, list := range media4(&p.entries[i]) {
				for j := range *list {
					if (*list)[j].Name == "" {
						(*list)[j].Name = p.name
					}
				}
			}
		}
	}
	return func(k uint64) (t dataset.Turn) {
		r := stream.At(k)
		into := media4(&t)
		for _, p := range pools {
			e := &p.entries[r.IntN(len(p.entries))]
			for i, list := range media4(e) {
				*into[i] = append(*into[i], *list...)
			}
			t.AudioSeconds += e.AudioSeconds
		}
		return t
	}
}

// drawContents draws the contents of each modality from those of all pools together.
func (l poolReader) drawContents(pools []pool) (func(k uint64) dataset.Turn, error) {
	var all [4][]string
	some := false
	for _, p := range pools {
		for i := range p.entries {
			for kind, list := range media4(&p.entries[i]) {
				for _, m := range *list {
					all[kind] = append(all[kind], m.Contents...)
					some = some || l.options.Batches[kind] > 0
				}
			}
		}
	}
	if !some {
		return nil, errors.New(l.path +
			": the batch sizes leave nothing of what the pools hold: raise --batch-size-text, --batch-size-image, " +
			"--batch-size-audio or --batch-size-video")
	}
	stream := l.options.Seed.Stream("dataset.loader.random_pool")
	return func(k uint64) (t dataset.Turn) {
		r := stream.At(k)
		for kind, list := range media4(&t) {
			n := l.options.Batches[kind]
			if n == 0 || len(all[kind]) == 0 {
				continue
			}
			contents := make([]string, n)
			for i := range contents {
				contents[i] = all[kind][r.IntN(len(all[kind]))]
			}
			*list = []dataset.Media{{Contents: contents}}
		}
		t.AudioSeconds = audioSeconds(&t)
		return t
	}, nil
}
