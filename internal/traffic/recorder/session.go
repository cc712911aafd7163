package recorder

import (
	"container/list"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"net/http"
	"sync"
	"time"

	"aiperf/internal/base/jsonscan"
)

// remembered bounds the turns by which sessions are recognized, and the blocks that were seen.
const (
	remembered = 200_000
	seenBlocks = 1_000_000
)

type digest = [sha256.Size]byte

// session is a conversation, as far as it can be told.
type session struct {
	id    string
	turns int
	ended time.Time // of its last turn
}

// sessions recognizes sessions. A conversation goes on where a request begins with all messages of one before: the
// newest of those whose messages are the same.
type sessions struct {
	salt []byte

	mu     sync.Mutex
	byName map[digest]*list.Element
	order  list.List // of *named, the least used first
}

type named struct {
	key digest
	of  *session
}

func newSessions(salt []byte) *sessions {
	return &sessions{salt: salt, byName: map[digest]*list.Element{}}
}

// place is where a request stands in its session.
type place struct {
	id string
	// turn counts from 0.
	turn int
	// think is the time since the turn before ended; negative: there is none, or it had not ended.
	think time.Duration
}

// of finds the session of a request, or begins one, and takes the request in.
func (s *sessions) of(x *exchange, name string, begun, ended time.Time) place {
	var keys []digest // of which sessions this request may go on, the longest first
	var own digest
	if name != "" {
		own = s.key("name", []byte(name))
		keys = []digest{own}
	} else {
		own, keys = s.chain(x.request)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *session
	for _, key := range keys {
		if e := s.byName[key]; e != nil {
			found = e.Value.(*named).of
			break
		}
	}
	p := place{think: -1}
	if found == nil {
		found = &session{id: hex.EncodeToString(s.id(own, begun))}
	} else if think := begun.Sub(found.ended); think >= 0 && found.turns > 0 {
		p.think = think
	}
	p.id, p.turn = found.id, found.turns
	found.turns++
	if ended.After(found.ended) {
		found.ended = ended
	}
	s.remember(own, found)
	return p
}

// remember has later requests find the session; s is locked.
func (s *sessions) remember(key digest, of *session) {
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

func (s *sessions) mac() hash.Hash { return hmac.New(sha256.New, s.salt) }

func (s *sessions) key(kind string, b []byte) (d digest) {
	m := s.mac()
	m.Write([]byte(kind))
	m.Write([]byte{0})
	m.Write(b)
	m.Sum(d[:0])
	return d
}

// id is a name for a session that says nothing of it.
func (s *sessions) id(own digest, begun time.Time) []byte {
	d := s.key("session", binary.BigEndian.AppendUint64(own[:], uint64(begun.UnixNano())))
	return d[:8]
}

// chain is the digest of all messages of a request, and of each of its beginnings, the longest first. A request without
// messages begins a session.
func (s *sessions) chain(body []byte) (all digest, beginnings []digest) {
	messages := jsonscan.Find(body, "messages")
	if messages == nil {
		messages = jsonscan.Find(body, "input")
	}
	all = s.key("body", body)
	var compact []byte
	for item := range jsonscan.Elements(messages) {
		beginnings = append(beginnings, all)
		compact = append(compact[:0], all[:]...)
		if len(beginnings) == 1 {
			system := jsonscan.Find(body, "system")
			compact = append(jsonscan.AppendCompact(compact[:0], jsonscan.Find(body, "model")), system...)
		}
		all = s.key("message", jsonscan.AppendCompact(compact, item))
	}
	if len(beginnings) == 0 {
		return all, nil
	}
	// The first one is of no message.
	for i, j := 1, len(beginnings)-1; i < j; i, j = i+1, j-1 {
		beginnings[i], beginnings[j] = beginnings[j], beginnings[i]
	}
	return all, beginnings[1:]
}

// nameOf is what tells the session of a request where the user said what does; "" = nothing does.
func (o *Options) nameOf(h http.Header) string {
	if o.SessionHeader != "" {
		return h.Get(o.SessionHeader)
	}
	if o.SessionCookie != "" {
		if c, err := (&http.Request{Header: h}).Cookie(o.SessionCookie); err == nil {
			return c.Value
		}
	}
	return ""
}

// blocks cuts token ids and gives each block the name of itself and of all before it.
type blocks struct {
	size int
	salt []byte

	mu   sync.Mutex
	seen map[int64]struct{}
	ring []int64
	next int
}

func newBlocks(size int, salt []byte) *blocks {
	return &blocks{size: size, salt: salt, seen: map[int64]struct{}{}}
}

// hash appends the ids of the whole blocks of a prompt and returns how many tokens stand in blocks that had been seen. An
// id has 52 bits, so that readers of JSON keep it. What is left of the prompt has no id: a later prompt that goes on with
// it would have another one.
func (b *blocks) hash(dst []int64, tokens []int) (ids []int64, shared int) {
	var before digest
	var text []byte
	known := true
	for ; len(tokens) >= b.size; tokens = tokens[b.size:] {
		text = append(text[:0], before[:]...)
		for _, id := range tokens[:b.size] {
			text = binary.AppendUvarint(text, uint64(id))
		}
		m := hmac.New(sha256.New, b.salt)
		m.Write(text)
		m.Sum(before[:0])
		id := int64(binary.BigEndian.Uint64(before[:8]) >> 12)
		dst = append(dst, id)
		if known = b.see(id) && known; known {
			shared += b.size
		}
	}
	return dst, shared
}

// see notes a block and reports whether it had been seen; the oldest are forgotten.
func (b *blocks) see(id int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.seen[id]; ok {
		return true
	}
	b.seen[id] = struct{}{}
	if len(b.ring) < seenBlocks {
		b.ring = append(b.ring, id)
		return false
	}
	delete(b.seen, b.ring[b.next])
	b.ring[b.next] = id
	b.next = (b.next + 1) % seenBlocks
	return false
}
