package mockserver

import (
	"bytes"
	"strconv"
	"strings"

	"aiperf/internal/mockserver/api"
)

// The cookie and the header by which a server with Options.Sessions knows a session again, as routers with sticky
// sessions do. Both hold the id of the session and the number of the reply: "ID.N".
const (
	sessionCookie = "mock-session"
	sessionHeader = "x-session-token"
)

// session is what a request brought back of an earlier reply.
type session struct{ cookie, token string }

// begin reads what the request brought, and sets what its reply brings: the next number of the session, or the first
// one of a new session, which has the id in X-Correlation-ID, or the number of the request.
func (s *session) begin(h *handler) {
	*s = session{}
	id, n := strconv.FormatUint(h.reply.Sequence, 10), 0
	for i := range h.conn.Head.Fields {
		switch f := &h.conn.Head.Fields[i]; {
		case f.Is("cookie"):
			for part := range bytes.SplitSeq(f.Value, []byte(";")) {
				if value, is := bytes.CutPrefix(bytes.TrimSpace(part), []byte(sessionCookie+"=")); is {
					s.cookie = string(value)
				}
			}
		case f.Is(sessionHeader):
			s.token = string(f.Value)
		case f.Is("x-correlation-id"):
			id = string(f.Value)
		}
	}
	for _, brought := range []string{s.cookie, s.token} {
		if at := strings.LastIndexByte(brought, '.'); at >= 0 {
			if last, err := strconv.Atoi(brought[at+1:]); err == nil && last > n {
				id, n = brought[:at], last
			}
		}
	}
	next := id + "." + strconv.Itoa(n+1)
	h.conn.Fields = "\r\nSet-Cookie: " + sessionCookie + "=" + next + "; Path=/; HttpOnly\r\nX-Session-Token: " + next
}

// append appends to the line of a request what it brought; null is nothing.
func (s *session) append(b []byte) []byte {
	for _, m := range []struct{ key, value string }{{"session_cookie", s.cookie}, {"session_token", s.token}} {
		if m.value == "" {
			b = append(api.AppendKey(b, m.key), "null"...)
		} else {
			b = api.AppendText(b, m.key, m.value)
		}
	}
	return b
}
