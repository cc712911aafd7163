package compose

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"sync"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/media"
	"aiperf/internal/workload/recipe"
)

// randomFormat draws the format of each picture.
const randomFormat = "random"

// The sources of pictures; any other is a folder.
const (
	NoiseSource  = "noise"
	SceneSource  = "assets"
	minAudio     = 0.01 // seconds
	maxAudio     = math.MaxInt32
	imageName    = "image_url"
	audioName    = "input_audio"
	videoName    = "video_url"
	shuffleCycle = "shuffle-cycle"
	fileCycle    = "sequential-cycle"
)

// Videos says which videos a turn has.
type Videos struct {
	media.VideoClip
	BatchSize int
}

// mediaGenerator makes the media of synthetic turns.
type mediaGenerator struct {
	sizes, formats, sources      random.Stream
	durations, encodings, sounds random.Stream
	videoNoise, videoSound       random.Stream
	pictures                     []*image.RGBA // of a folder
	count                        int           // pictures of a finite source, 0 without one
	firsts                       []int         // number of the first picture of each conversation, in cycles
	ffmpeg                       string
	mu                           sync.Mutex
	made                         map[pictureKey]string
	sameVideo                    func() (string, error) // where nothing in a video is drawn
}

// pictureKey names a picture of a finite source in one size and format.
type pictureKey struct {
	number, w, h int
	format       string
}

// prepareMedia looks for all that media are made of.
func (b *builder) prepareMedia() error {
	if b.Kind != Synthetic {
		return nil
	}
	m := &b.media
	m.sizes, m.formats, m.sources = b.Seed.Stream("dataset.image.dimensions"), b.Seed.Stream("dataset.image.format"),
		b.Seed.Stream("dataset.image.source")
	m.durations, m.encodings, m.sounds = b.Seed.Stream("dataset.audio.duration"), b.Seed.Stream("dataset.audio.format"),
		b.Seed.Stream("dataset.audio.data")
	m.videoNoise, m.videoSound = b.Seed.Stream("dataset.video.noise"), b.Seed.Stream("dataset.video.audio")
	m.made = map[pictureKey]string{}
	if err := b.prepareImages(); err != nil {
		return err
	}
	if b.Videos == nil {
		return nil
	}
	if b.Videos.Frames() < 1 {
		return fmt.Errorf("--video-duration %v at --video-fps %d is less than one frame", b.Videos.Seconds,
			b.Videos.FPS)
	}
	var err error
	m.ffmpeg, err = media.FFmpeg()
	return err
}

// prepareImages reads the pictures, and where they are taken in turn, counts how many each conversation takes: a
// conversation can then be made without those before it.
func (b *builder) prepareImages() error {
	p, m := b.Images, &b.media
	switch {
	case p == nil || p.Source == NoiseSource:
		return nil
	case p.Source == SceneSource:
		m.count = media.Scenes
	default:
		var err error
		if m.pictures, err = media.ReadPictures(p.Source); err != nil {
			return fmt.Errorf("--image-source: %w", err)
		}
		m.count = len(m.pictures)
	}
	if p.Sampling == shuffleCycle || p.Sampling == fileCycle {
		m.firsts = make([]int, b.Entries)
		for k, number := 0, 0; k < b.Entries; k++ {
			m.firsts[k] = number
			number += b.turnCount(uint64(k)) * p.BatchSize
		}
	}
	return nil
}

// choosePlayed finds the conversations that the sessions of the load play, where media are to be made. What a
// conversation holds depends on its place alone, so that those that are made are the same as if all were.
func (b *builder) choosePlayed() error {
	if b.Kind != Synthetic || b.Sessions <= 0 || b.Sessions >= int64(b.Entries) || b.Images == nil &&
		b.Audio == nil && b.Videos == nil && len(b.MediaMix) == 0 {
		return nil
	}
	sampler, err := dataset.NewSampler(cmp.Or(b.Sampling, b.dataset.Sampling), b.Entries, b.Seed)
	if err != nil {
		return err
	}
	b.dataset.Sampler = sampler
	b.played = make([]bool, b.Entries)
	made := 0
	for k := range b.Sessions {
		if at := sampler.At(uint64(k)); !b.played[at] {
			b.played[at] = true
			made++
		}
	}
	b.dataset.Notes = append(b.dataset.Notes,
		fmt.Sprintf("Pictures, sound and video are made for %d of %d conversations: the load plays no more of them",
			made, b.Entries))
	return nil
}

// addMedia gives the turns of conversation k their pictures, sound and video.
func (b *builder) addMedia(ctx context.Context, k uint64, turns []dataset.Turn) error {
	images, audio := func(int) *recipe.Images { return b.Images }, func(int) *recipe.Audio { return b.Audio }
	if mix := b.drawMix(k, len(turns)); mix != nil {
		images, audio = func(i int) *recipe.Images { return mix[i].images },
			func(i int) *recipe.Audio { return mix[i].audio }
	}
	if err := b.addImages(ctx, k, turns, images); err != nil {
		return err
	}
	b.addAudio(k, turns, audio)
	if b.Videos != nil && len(b.MediaMix) == 0 {
		return b.addVideos(ctx, k, turns)
	}
	return nil
}

// addImages draws the images of conversation k, of its own place in each stream: what conversations before it drew does
// not count, so that they can be made in any order. A picture of a finite set is encoded once and shared.
func (b *builder) addImages(ctx context.Context, k uint64, turns []dataset.Turn, of func(i int) *recipe.Images) error {
	m := &b.media
	sizes, formats, sources := m.sizes.At(k), m.formats.At(k), m.sources.At(k)
	drawn := 0
	for i := range turns {
		p := of(i)
		if p == nil {
			continue
		}
		count := m.finite(p)
		contents := make([]string, p.BatchSize)
		for j := range contents {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			key := pictureKey{w: min(media.MaxSide, p.Width.Draw(&sizes)), h: min(media.MaxSide, p.Height.Draw(&sizes)),
				format: p.Format}
			if p.Format == randomFormat {
				key.format = []string{media.PNG, media.JPEG}[formats.IntN(2)]
			}
			var err error
			if count == 0 {
				contents[j], err = media.EncodePicture(media.NoisePicture(&sources, key.w, key.h), key.format)
			} else {
				key.number = b.pickPicture(k, drawn, count, &sources)
				contents[j], err = m.picture(key)
			}
			if err != nil {
				return err
			}
			drawn++
		}
		turns[i].Images = []dataset.Media{{Name: imageName, Contents: contents}}
	}
	return nil
}

// finite returns the number of pictures of a source, 0 of one that has no end.
func (m *mediaGenerator) finite(p *recipe.Images) int {
	switch p.Source {
	case NoiseSource:
		return 0
	case SceneSource:
		return media.Scenes
	}
	return m.count
}

// pickPicture returns the number of a picture of a finite source of count ones, for the picture of that place in
// conversation k.
func (b *builder) pickPicture(k uint64, place, count int, r *random.Rand) int {
	m := &b.media
	if m.firsts == nil {
		return r.IntN(count)
	}
	number := m.firsts[k] + place
	if b.Images.Sampling == fileCycle {
		return number % m.count
	}
	cycle := m.sources.At(uint64(number / m.count))
	return cycle.Perm(m.count)[number%m.count]
}

// picture returns a picture of a finite source; those that are asked for again are kept.
func (m *mediaGenerator) picture(key pictureKey) (string, error) {
	m.mu.Lock()
	text, ok := m.made[key]
	m.mu.Unlock()
	if ok {
		return text, nil
	}
	var img *image.RGBA
	if m.pictures == nil {
		img = media.Scene(key.number, key.w, key.h)
	} else {
		img = media.Resize(m.pictures[key.number], key.w, key.h)
	}
	text, err := media.EncodePicture(img, key.format)
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if first, ok := m.made[key]; ok {
		return first, nil
	}
	m.made[key] = text
	return text, nil
}

// addAudio draws the clips of conversation k, of its own place in each stream.
func (b *builder) addAudio(k uint64, turns []dataset.Turn, of func(i int) *recipe.Audio) {
	m := &b.media
	durations, encodings, sounds := m.durations.At(k), m.encodings.At(k), m.sounds.At(k)
	for i := range turns {
		s := of(i)
		if s == nil {
			continue
		}
		contents := make([]string, s.BatchSize)
		for j := range contents {
			clip := media.Clip{
				Format: s.Format, Channels: s.Channels,
				Seconds: s.Seconds.Bounded(&durations, minAudio, maxAudio),
				RateHz:  s.RatesHz[encodings.IntN(len(s.RatesHz))],
				Depth:   s.Depths[encodings.IntN(len(s.Depths))],
			}
			contents[j] = clip.Noise(&sounds)
			turns[i].AudioSeconds += clip.Seconds
		}
		turns[i].Audios = []dataset.Media{{Name: audioName, Contents: contents}}
	}
}

func (b *builder) addVideos(ctx context.Context, k uint64, turns []dataset.Turn) error {
	f, m := b.Videos, &b.media
	pictures, sound := m.videoNoise.At(k), m.videoSound.At(k)
	for i := range turns {
		contents := make([]string, f.BatchSize)
		for j := range contents {
			var err error
			if contents[j], err = m.video(ctx, f.VideoClip, &pictures, &sound); err != nil {
				return err
			}
		}
		turns[i].Videos = []dataset.Media{{Name: videoName, Contents: contents}}
	}
	return nil
}

// video encodes a video, once where all are the same.
func (m *mediaGenerator) video(ctx context.Context, f media.VideoClip, pictures, sound *random.Rand) (string, error) {
	if !f.Same() {
		return f.Make(ctx, m.ffmpeg, pictures, sound)
	}
	m.mu.Lock()
	if m.sameVideo == nil {
		m.sameVideo = sync.OnceValues(func() (string, error) { return f.Make(ctx, m.ffmpeg, nil, nil) })
	}
	video := m.sameVideo
	m.mu.Unlock()
	return video()
}
