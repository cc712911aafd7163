package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/load"
	"aiperf/internal/run"
	"aiperf/internal/workload/dataset"
)

// shelf is a store in memory that can fail.
type shelf struct {
	blocks map[string][]byte
	got    []string
	// spoil changes what a get returns; nil returns it as it is.
	spoil func(n int, data []byte) ([]byte, error)
}

func (s *shelf) put(_ context.Context, name string, data []byte) error {
	s.blocks[name] = slices.Clone(data)
	return nil
}

func (s *shelf) get(_ context.Context, name string) ([]byte, error) {
	s.got = append(s.got, name)
	if s.spoil != nil {
		return s.spoil(len(s.got), slices.Clone(s.blocks[name]))
	}
	return s.blocks[name], nil
}

// stored publishes conversations of a given length and returns the store and the work of the only share.
func stored(t *testing.T, n, bytes int) (*shelf, *work) {
	t.Helper()
	s := &shelf{blocks: map[string][]byte{}}
	var list dataset.Memory
	for i := range n {
		text := fmt.Sprintf("%d %s", i, strings.Repeat("x", bytes))
		list = append(list, dataset.Conversation{SessionID: fmt.Sprint(i), Turns: []dataset.Turn{{Texts: []dataset.Media{{
			Contents: []string{text}}}}}})
	}
	name, err := publish(t.Context(), s, &run.Content{Data: &dataset.Dataset{Conversations: list,
		Sampling: dataset.Sequential}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s, &work{Content: name, Share: load.Share{Of: 1}}
}

func fetcherOf(s store, dir string) *fetcher {
	return &fetcher{store: s, dir: dir, memory: maxMemoryBytes, note: func(string) {}}
}

// readBack checks that all conversations come back.
func readBack(t *testing.T, c *run.Content, n int) {
	t.Helper()
	if c.Data.Len() != n {
		t.Fatalf("%d of %d conversations came", c.Data.Len(), n)
	}
	for i, x := range c.Data.All() {
		if x.Broken != nil || x.SessionID != fmt.Sprint(i) ||
			!strings.HasPrefix(x.Turns[0].Texts[0].Contents[0], x.SessionID+" x") {
			t.Fatalf("conversation %d is %q, %v", i, x.SessionID, x.Broken)
		}
	}
}

func TestABrokenFetchGoesOnWithWhatIsMissing(t *testing.T) {
	t.Parallel()
	s, w := stored(t, 12, 1<<20) // three blocks
	dir := t.TempDir()
	s.spoil = func(n int, data []byte) ([]byte, error) {
		if n > 2 { // the description and the first block have come
			return nil, errors.New("cut")
		}
		return data, nil
	}
	if _, err := fetcherOf(s, dir).content(t.Context(), w); err == nil || !strings.Contains(err.Error(), "cut") {
		t.Fatalf("the fetch ended with %v", err)
	}
	first := s.got[1]
	s.spoil, s.got = nil, nil
	c, err := fetcherOf(s, dir).content(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	readBack(t, c, 12)
	if slices.Contains(s.got, first) || len(s.got) != 3 {
		t.Errorf("%d blocks were fetched again, the first among them: %v", len(s.got), slices.Contains(s.got, first))
	}
}

func TestWhatDoesNotComeWholeIsFetchedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, change := range map[string]func([]byte) ([]byte, error){
			"cut off":   func(data []byte) ([]byte, error) { return data[:len(data)/2], nil },
			"one bit":   func(data []byte) ([]byte, error) { data[len(data)/2] ^= 1; return data, nil },
			"no answer": func([]byte) ([]byte, error) { return nil, errors.New("no answer") },
		} {
			s, w := stored(t, 3, 100)
			s.spoil = func(n int, data []byte) ([]byte, error) {
				if n <= 3 {
					return change(data)
				}
				return data, nil
			}
			f := fetcherOf(s, "")
			if _, err := f.content(t.Context(), w); err == nil {
				t.Errorf("%s: nothing was noticed", name)
			}
			s.got, f.deadline = nil, time.Minute
			c, err := f.content(t.Context(), w)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			readBack(t, c, 3)
		}
	})
}

func TestADamagedCacheIsFetchedAnew(t *testing.T) {
	t.Parallel()
	s, w := stored(t, 5, 1<<20)
	dir := t.TempDir()
	if _, err := fetcherOf(s, dir).content(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) == 0 {
		t.Fatal("nothing is kept")
	}
	if err := os.WriteFile(files[0], []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.got = nil
	c, err := fetcherOf(s, dir).content(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	readBack(t, c, 5)
	if !slices.Contains(s.got, filepath.Base(files[0])) {
		t.Error("the damaged file was used")
	}
}

func TestALargeDataSetStaysOnDisk(t *testing.T) {
	t.Parallel()
	s, w := stored(t, 9, 1<<20)
	f := fetcherOf(s, t.TempDir())
	f.memory = 1 << 20
	c, err := f.content(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	p := c.Data.Conversations.(*part)
	for i, x := range p.memory {
		if x != nil {
			t.Errorf("conversation %d is in memory", i)
		}
	}
	readBack(t, c, 9)
	// A disk that cannot keep it: memory does.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f = fetcherOf(s, filepath.Join(file, "below"))
	f.memory = 1 << 20
	if c, err = f.content(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	readBack(t, c, 9)
}
