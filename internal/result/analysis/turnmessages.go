package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/report"
)

// BookLimits bound the page.
type BookLimits struct {
	// Conversations is how many are shown, those that began first and roots before their children; Turns how many of
	// each; Content how many characters of each text.
	Conversations, Turns, Content int
}

// DefaultBookLimits returns the default limits.
func DefaultBookLimits() BookLimits { return BookLimits{Conversations: 40, Turns: 60, Content: 8000} }

// Book is the content of the page.
type Book struct {
	Title         string
	Conversations []*Conversation
	// Hidden is the number of conversations that are not shown.
	Hidden int
	// Bodies are the texts that messages refer to.
	Bodies []Body
}

// Body is a text. Rest is how many of its characters are not shown.
type Body struct {
	Text string
	Rest int
}

// Conversation is one session.
type Conversation struct {
	ID, Name, Parent string
	Depth            int
	// Turns are in their order; Hidden is the number of those that are not shown.
	Turns   []Turn
	Hidden  int
	firstNS int64
	seen    int
}

// Turn is one request.
type Turn struct {
	Index   int
	StartNS int64
	MS      float64
	Phase   string
	// Note says what is odd about it: cancelled, cut off, or the error.
	Note     string
	Failed   bool
	Messages []Message
	// Repeated is the number of messages with which the turn before began as well.
	Repeated  int
	requestID string
}

// Message is a role and the number of its body.
type Message struct {
	Role string
	Body int
}

// ErrNoRaw reports that a run has no raw export.
var ErrNoRaw = errors.New("it holds no raw records; run aiperf profile with --export-level raw")

// ReadBook makes the book from a raw export. Outputs, the outputs.json of the run, adds the replies; it may be missing.
func ReadBook(path, outputs, title string, limits BookLimits) (*Book, error) {
	book := &Book{Title: title}
	byID, err := listConversations(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoRaw
	}
	if err != nil {
		return nil, err
	}
	if len(byID) == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrNoRaw)
	}
	for _, c := range byID {
		book.Conversations = append(book.Conversations, c)
	}
	slices.SortFunc(book.Conversations, func(a, b *Conversation) int {
		return cmp.Or(cmp.Compare(min(a.Depth, 1), min(b.Depth, 1)), cmp.Compare(a.firstNS, b.firstNS),
			cmp.Compare(a.ID, b.ID))
	})
	if n := len(book.Conversations); n > limits.Conversations {
		for _, c := range book.Conversations[limits.Conversations:] {
			delete(byID, c.ID)
		}
		book.Conversations, book.Hidden = book.Conversations[:limits.Conversations], n-limits.Conversations
	}
	shelf := bodies{book: book, limit: limits.Content, index: map[string]int{}}
	err = recordfile.ReadRequests(path, func(r *recordfile.Request) {
		c := byID[r.Session()]
		if c == nil {
			return
		}
		if c.seen++; c.seen > limits.Turns {
			c.Hidden++
			return
		}
		c.Turns = append(c.Turns, shelf.turn(r))
	})
	if err != nil {
		return nil, err
	}
	if err := book.addReplies(&shelf, outputs); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, c := range book.Conversations {
		slices.SortStableFunc(c.Turns, func(a,
			b Turn) int {
			return cmp.Or(cmp.Compare(a.StartNS, b.StartNS), cmp.Compare(a.Index, b.Index))
		})
		for i := 1; i < len(c.Turns); i++ {
			c.Turns[i].Repeated = repeated(c.Turns[i-1].Messages, c.Turns[i].Messages)
		}
	}
	return book, nil
}

// listConversations finds the sessions of a raw export by their id.
func listConversations(path string) (map[string]*Conversation, error) {
	byID := map[string]*Conversation{}
	err := recordfile.ReadRequests(path, func(r *recordfile.Request) {
		c := byID[r.Session()]
		if c == nil {
			c = &Conversation{
				ID: r.Session(), Name: r.ConversationID, Parent: r.ParentCorrelationID,
				Depth: r.AgentDepth, firstNS: r.StartNS,
			}
			byID[c.ID] = c
		}
		c.firstNS = min(c.firstNS, r.StartNS)
	})
	return byID, err
}

// addReplies adds the replies after the messages of their requests.
func (b *Book) addReplies(shelf *bodies, outputs string) error {
	shown := map[string]bool{}
	for _, c := range b.Conversations {
		for i := range c.Turns {
			shown[c.Turns[i].requestID] = true
		}
	}
	texts, err := report.ReadReplies(outputs, shown)
	if err != nil {
		return err
	}
	for _, c := range b.Conversations {
		for i := range c.Turns {
			if text, ok := texts[c.Turns[i].requestID]; ok {
				c.Turns[i].Messages = append(c.Turns[i].Messages, Message{Reply, shelf.add(text)})
			}
		}
	}
	return nil
}

// Reply is the role of the server's replies.
const Reply = "reply"

// repeated returns the number of messages with which both begin. The reply to the former is new to the latter.
func repeated(before, now []Message) int {
	n := 0
	for n < len(before) && n < len(now) && before[n] == now[n] && now[n].Role != Reply {
		n++
	}
	return n
}

// bodies collects the texts of a book, each once.
type bodies struct {
	book  *Book
	limit int
	index map[string]int
}

// add returns the number of a text.
func (b *bodies) add(text string) int {
	if i, known := b.index[text]; known {
		return i
	}
	i := len(b.book.Bodies)
	b.index[text] = i
	body := Body{Text: text}
	if runes := []rune(text); len(runes) > b.limit {
		body = Body{Text: string(runes[:b.limit]), Rest: len(runes) - b.limit}
	}
	b.book.Bodies = append(b.book.Bodies, body)
	return i
}

func (b *bodies) turn(r *recordfile.Request) Turn {
	t := Turn{
		Index: r.TurnIndex, StartNS: r.StartNS, MS: float64(r.EndNS-r.StartNS) / 1e6, Phase: r.Phase,
		Note: r.Failure(), Failed: r.Err != nil, requestID: r.RequestID,
	}
	switch {
	case r.WasCutOff:
		t.Note, t.Failed = "cut off by the end of the run", true
	case r.WasCancelled && t.Note == "":
		t.Note, t.Failed = "cancelled", true
	}
	for _, m := range messages(r.Payload) {
		t.Messages = append(t.Messages, Message{m.role, b.add(m.text)})
	}
	return t
}
