package compose

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/loader"
)

// stored are the conversations of a trace that stays in its file. Each is read and completed when it is asked for,
// the same way at every time: what a conversation gets depends on its place alone.
type stored struct {
	*loader.Indexed
	builder *builder
	// secret makes the ids of a run without a seed.
	secret [16]byte

	mu         sync.Mutex
	young, old map[int]*dataset.Conversation
	weight     int
}

// keptTurns bounds the turns of each of two generations of conversations that are kept.
const keptTurns = 1 << 13

func newStored(b *builder, x *loader.Indexed) *stored {
	s := &stored{Indexed: x, builder: b, young: map[int]*dataset.Conversation{}}
	rand.Read(s.secret[:]) // never fails: crypto/rand ends the program if the OS has no entropy
	return s
}

// At implements [dataset.Conversations].
func (s *stored) At(i int) *dataset.Conversation {
	s.mu.Lock()
	c, ok := s.young[i]
	if !ok {
		if c, ok = s.old[i]; ok {
			s.keep(i, c)
		}
	}
	s.mu.Unlock()
	if ok {
		return c
	}
	c = s.make(i)
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, ok := s.young[i]; ok {
		return first
	}
	s.keep(i, c)
	return c
}

// Time implements [dataset.Conversations].
func (s *stored) Time(conversation, turn int) (atMS, delayMS *float64) {
	if turn == 0 {
		return s.Indexed.Time(conversation, turn)
	}
	return s.At(conversation).Turns[turn].Time()
}

func (s *stored) keep(i int, c *dataset.Conversation) {
	if s.weight += len(c.Turns); s.weight > keptTurns {
		s.young, s.old, s.weight = map[int]*dataset.Conversation{}, s.young, len(c.Turns)
	}
	s.young[i] = c
}

func (s *stored) make(i int) *dataset.Conversation {
	b, c := s.builder, s.Indexed.At(i)
	b.setLimits(uint64(i), c.Turns)
	b.setWriter(uint64(i), c.Turns)
	c.SystemMessage = b.system
	if b.UserContextLength > 0 {
		text := b.text(b.first+uint64(s.Len())+uint64(i), b.UserContextLength)
		c.UserContext = &text
	}
	b.chooseModelsOf(uint64(i), s.TurnsBefore(i), c.Turns)
	if c.SessionID == "" {
		c.SessionID = s.id(i)
	}
	return c
}

// id returns that of a conversation without one.
func (s *stored) id(i int) string {
	if s.builder.Seed.IsSet() {
		return fmt.Sprintf("session_%06d", s.Number(i))
	}
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(s.secret[:], uint64(i)))
	return uuidOf([16]byte(sum[:16]))
}
