package row

import (
	"container/list"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/recording"
)

// remembered bounds the turns by which sessions are recognized, and the blocks that were seen.
const (
	remembered = 200_000
	seenBlocks = 1_000_000
)

// Digest is a keyed hash.
type Digest = [sha256.Size]byte

// Thread is what a request says of its session: Own is by which later requests find it, Before are those of which the
// request may be the next turn, the likeliest first.
type Thread struct {
	Own    Digest
	Before []Digest
}

// Memory is what the rows of a recording have in common: sessions, and blocks that were seen.
type Memory struct {
	o        Options
	sessions *sessions
	blocks   *blocks
}

// NewMemory returns the memory of a recording that begins.
func NewMemory(o Options) *Memory {
	return &Memory{o: o, sessions: newSessions(), blocks: newBlocks(o.BlockSize, o.Salt)}
}

// Place gives a row its session, the number of its turn and the time since the turn before. Rows come in the order of
// their ends or of their beginnings. It returns how many tokens of the prompt had been seen as the beginning of
// another.
func (m *Memory) Place(row *recording.Row, t Thread, begun, ended time.Time) (shared int) {
	id := func(number int64) string {
		// It says nothing of the session.
		at := binary.BigEndian.AppendUint64(t.Own[:], uint64(begun.UnixNano()))
		own := m.key("session", binary.AppendVarint(at, number))
		return hex.EncodeToString(own[:8])
	}
	s, turn, think := m.sessions.of(t, begun, ended, id)
	row.SessionID, row.Turn = s.id, turn
	if think >= 0 {
		row.ThinkMS = pointer(ms(think))
	}
	return m.blocks.see(row.HashIDs)
}

// session is a conversation, as far as it can be told.
type session struct {
	id    string
	turns int
	ended time.Time // of its last turn
}

// sessions recognizes sessions. A conversation goes on where a request begins with all messages of one before: the
// newest of those whose messages are the same.
type sessions struct {
	mu     sync.Mutex
	begun  int64 // their number
	byName map[Digest]*list.Element
	order  list.List // of *named, the least used first
}

type named struct {
	key Digest
	of  *session
}

func newSessions() *sessions {
	return &sessions{byName: map[Digest]*list.Element{}}
}

// of finds the session of a request, or begins one, and takes the request in. turn counts from 0; think is the time
// since the turn before ended, negative if there is none or it had not ended.
func (s *sessions) of(t Thread, begun, ended time.Time, id func(number int64) string) (found *session, turn int,
	think time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range t.Before {
		if e := s.byName[key]; e != nil {
			found = e.Value.(*named).of
			break
		}
	}
	think = -1
	if found == nil {
		s.begun++
		found = &session{id: id(s.begun)}
	} else if since := begun.Sub(found.ended); since >= 0 {
		think = since
	}
	turn = found.turns
	found.turns++
	if ended.After(found.ended) {
		found.ended = ended
	}
	s.remember(t.Own, found)
	return found, turn, think
}

// remember has later requests find the session; s is locked.
func (s *sessions) remember(key Digest, of *session) {
	if e := s.byName[key]; e != nil {
		e.Value.(*named).of = of
		s.order.MoveToBack(e)
		return
	}
	if len(s.byName) >= remembered {
		oldest := s.order.Front()
		delete(s.byName, oldest.Value.(*named).key)
		s.order.Remove(oldest)
	}
	s.byName[key] = s.order.PushBack(&named{key, of})
}

func (m *Memory) key(kind string, b []byte) (d Digest) {
	h := hmac.New(sha256.New, m.o.Salt)
	h.Write([]byte(kind))
	h.Write([]byte{0})
	h.Write(b)
	h.Sum(d[:0])
	return d
}

// thread says of which session a request is: by what the user named, else by its messages.
func (m *Memory) thread(name string, body []byte) Thread {
	if name != "" {
		own := m.key("name", []byte(name))
		return Thread{own, []Digest{own}}
	}
	own, before := m.chain(body)
	return Thread{own, before}
}

// chain is the digest of all messages of a request, and of each of its beginnings, the longest first. A request without
// messages begins a session.
func (m *Memory) chain(body []byte) (all Digest, beginnings []Digest) {
	messages := jsonscan.Find(body, "messages")
	if messages == nil {
		messages = jsonscan.Find(body, "input")
	}
	all = m.key("body", body)
	var compact []byte
	for item := range jsonscan.Elements(messages) {
		beginnings = append(beginnings, all)
		compact = append(compact[:0], all[:]...)
		if len(beginnings) == 1 {
			system := jsonscan.Find(body, "system")
			compact = append(jsonscan.AppendCompact(compact[:0], jsonscan.Find(body, "model")), system...)
		}
		all = m.key("message", jsonscan.AppendCompact(compact, item))
	}
	if len(beginnings) == 0 {
		return all, nil
	}
	// The first one is of no message.
	slices.Reverse(beginnings[1:])
	return all, beginnings[1:]
}
