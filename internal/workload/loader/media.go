package loader

import (
	"fmt"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/media"
)

// contents reads the four modalities of a turn. Media that are local files become their content.
func (l *lineReader) contents(o *object, t *dataset.Turn) error {
	for i, list := range media4(t) {
		m := modalities[i]
		one, err := o.text(m.singular)
		if err != nil {
			return err
		}
		several, err := o.media(m.plural)
		if err != nil {
			return err
		}
		if one != "" && len(several) > 0 {
			return fmt.Errorf("fields %q and %q exclude each other", m.singular, m.plural)
		}
		key := m.plural
		if one != "" {
			key, several = m.singular, []dataset.Media{{Contents: []string{one}}}
		}
		*list = several
		if m.singular == "text" {
			continue
		}
		if err := l.resolve(media.Kind(m.singular), several); err != nil {
			return fmt.Errorf("field %q: %w", key, err)
		}
	}
	t.AudioSeconds = audioSeconds(t)
	return nil
}

// audioSeconds returns the length of all sound of a turn, as far as it is known.
func audioSeconds(t *dataset.Turn) (sum float64) {
	for _, m := range t.Audios {
		for _, sound := range m.Contents {
			sum += media.Seconds(sound)
		}
	}
	return sum
}

// resolve replaces the names of local files by their content, in place; a file that several turns
// name is read and kept once.
func (l *lineReader) resolve(kind media.Kind, list []dataset.Media) error {
	for _, m := range list {
		for i, text := range m.Contents {
			if text == "" {
				continue
			}
			key := string(kind) + " " + text
			resolved, ok := l.media[key]
			if !ok {
				var err error
				if resolved, err = media.Resolve(kind, text); err != nil {
					return fmt.Errorf("%s: %w", shorten(text), err)
				}
				if resolved != text {
					if l.media == nil {
						l.media = map[string]string{}
					}
					l.media[key] = resolved
				}
			}
			m.Contents[i] = resolved
		}
	}
	return nil
}
