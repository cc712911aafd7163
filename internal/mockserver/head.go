package mockserver

import (
	"bytes"
	"fmt"
	"net/http"
)

const (
	maxHeadBytes = 64 << 10
	maxBodyBytes = 128 << 20
	// maxChunkLine bounds one chunk-size or trailer line.
	maxChunkLine = 4 << 10
)

// httpError is a refusal that goes to the client as a JSON error body.
type httpError struct {
	status  int
	message string
}

func (e *httpError) Error() string { return e.message }

func badRequest(format string, args ...any) *httpError {
	return &httpError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// head is a parsed request head. Its slices point into the bytes it was parsed from.
type head struct {
	method, path []byte
	lines        []byte // the header lines as received
	http10       bool
	length       int64 // of the body; -1 without Content-Length
	chunked      bool
	close        bool // the client wants the connection closed
	keepAlive    bool // an HTTP/1.0 client wants it kept
	expect       bool // 100-continue
	credential   []byte
	fault        []byte
	hasFault     bool
	openMetrics  bool // among what the client accepts
	requestID    []byte
	contentType  []byte
}

// headEnd is the length of the request head at the start of data including its empty line,
// or -1 while that has not arrived. from says how much was looked at before.
func headEnd(data []byte, from int) int {
	// An empty line may begin in the bytes that were seen already.
	for i := max(0, from-3); ; {
		n := bytes.IndexByte(data[i:], '\n')
		if n < 0 {
			return -1
		}
		i += n + 1
		if i < len(data) && data[i] == '\n' {
			return i + 1
		}
		if i+1 < len(data) && data[i] == '\r' && data[i+1] == '\n' {
			return i + 2
		}
	}
}

// parse reads a complete head (as delimited by headEnd) into h. authHeader is the lower-case name
// of the header that carries the API key.
func (h *head) parse(data []byte, authHeader string) *httpError {
	*h = head{length: -1}
	line, rest := cutLine(data)
	if err := h.requestLine(line); err != nil {
		return err
	}
	h.lines = rest
	hosts := 0
	for {
		line, rest = cutLine(rest)
		if len(line) == 0 {
			break
		}
		colon := bytes.IndexByte(line, ':')
		if colon <= 0 || !isToken(line[:colon]) {
			return badRequest("malformed header line")
		}
		name, value := line[:colon], trimOWS(line[colon+1:])
		if bytes.IndexByte(value, 0) >= 0 || bytes.IndexByte(value, '\r') >= 0 {
			return badRequest("a header value contains a control character")
		}
		if len(name) == len("host") && equalFold(name, "host") {
			hosts++
		}
		if err := h.field(name, value, authHeader); err != nil {
			return err
		}
	}
	h.lines = h.lines[:len(h.lines)-len(rest)]
	switch {
	case hosts == 0 && !h.http10:
		return badRequest("missing Host header")
	case hosts > 1:
		return badRequest("several Host headers")
	case h.chunked && h.length >= 0:
		return badRequest("both Content-Length and Transfer-Encoding are given")
	case h.chunked && h.http10:
		return badRequest("Transfer-Encoding is not part of HTTP/1.0")
	case h.length > maxBodyBytes:
		return &httpError{http.StatusRequestEntityTooLarge, "the request body is too large"}
	}
	return nil
}

func (h *head) requestLine(line []byte) *httpError {
	method, rest, ok := bytes.Cut(line, []byte{' '})
	target, version, ok2 := bytes.Cut(rest, []byte{' '})
	if !ok || !ok2 || !isToken(method) || len(target) == 0 {
		return badRequest("malformed request line")
	}
	for _, b := range target {
		if b <= ' ' || b == 0x7f {
			return badRequest("malformed request target")
		}
	}
	switch string(version) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		h.http10 = true
	default:
		if bytes.HasPrefix(version, []byte("HTTP/")) {
			return &httpError{http.StatusHTTPVersionNotSupported, "only HTTP/1.1 and HTTP/1.0 are spoken here"}
		}
		return badRequest("malformed request line")
	}
	h.method = method
	h.path = targetPath(target)
	return nil
}

// targetPath is the path of a request target in origin or absolute form, without the query.
func targetPath(target []byte) []byte {
	if target[0] != '/' {
		if i := bytes.Index(target, []byte("://")); i >= 0 {
			authority := target[i+3:]
			slash := bytes.IndexByte(authority, '/')
			if slash < 0 {
				return []byte{'/'}
			}
			target = authority[slash:]
		}
	}
	if q := bytes.IndexByte(target, '?'); q >= 0 {
		target = target[:q]
	}
	return target
}

// field notes the header fields that steer the server; the length of the name sorts out most others.
func (h *head) field(name, value []byte, authHeader string) *httpError {
	if len(name) == len(authHeader) && equalFold(name, authHeader) {
		h.credential = value
	}
	if len(name) == len("x-api-key") && h.credential == nil && equalFold(name, "x-api-key") {
		h.credential = value // where the messages API has it
	}
	switch len(name) {
	case len("expect"): // as long as "accept"
		if equalFold(name, "accept") {
			h.openMetrics = h.openMetrics || bytes.Contains(value, []byte(openMetricsType))
		} else if equalFold(name, "expect") {
			if !equalFold(value, "100-continue") {
				return &httpError{http.StatusExpectationFailed, "unknown expectation"}
			}
			h.expect = true
		}
	case len("connection"):
		if equalFold(name, "connection") {
			h.connection(value)
		}
	case len("x-mock-fault"): // as long as "x-request-id"
		if equalFold(name, "x-mock-fault") {
			h.fault, h.hasFault = value, true
		} else if equalFold(name, "x-request-id") {
			h.requestID = value
		} else if equalFold(name, "content-type") {
			h.contentType = value
		}
	case len("content-length"):
		if equalFold(name, "content-length") {
			return h.contentLength(value)
		}
	case len("transfer-encoding"):
		if equalFold(name, "transfer-encoding") {
			if h.chunked || !equalFold(value, "chunked") {
				return &httpError{http.StatusNotImplemented, "only the chunked transfer encoding is supported"}
			}
			h.chunked = true
		}
	}
	return nil
}

func (h *head) connection(value []byte) {
	for len(value) > 0 {
		option, rest, _ := bytes.Cut(value, []byte{','})
		option = trimOWS(option)
		switch {
		case equalFold(option, "close"):
			h.close = true
		case equalFold(option, "keep-alive"):
			h.keepAlive = true
		}
		value = rest
	}
}

func (h *head) contentLength(value []byte) *httpError {
	if len(value) == 0 || len(value) > 18 {
		return badRequest("malformed Content-Length")
	}
	var n int64
	for _, b := range value {
		if b < '0' || b > '9' {
			return badRequest("malformed Content-Length")
		}
		n = n*10 + int64(b-'0')
	}
	if h.length >= 0 && h.length != n {
		return badRequest("contradicting Content-Length headers")
	}
	h.length = n
	return nil
}

// chunkReader takes a chunked body apart. feed is given all bytes since the body's start each time.
type chunkReader struct {
	body    []byte
	pos     int // consumed so far
	trailer bool
}

// feed consumes the whole chunks of data and reports whether the body is complete.
func (c *chunkReader) feed(data []byte) (done bool, err *httpError) {
	for {
		rest := data[c.pos:]
		eol := bytes.IndexByte(rest, '\n')
		if eol < 0 {
			if len(rest) > maxChunkLine {
				return false, badRequest("a chunk header is too long")
			}
			return false, nil
		}
		line := trimCR(rest[:eol])
		if c.trailer {
			c.pos += eol + 1
			if len(line) == 0 {
				return true, nil
			}
			continue
		}
		size, err := chunkSize(line)
		if err != nil {
			return false, err
		}
		if size == 0 {
			c.trailer = true
			c.pos += eol + 1
			continue
		}
		if len(c.body)+size > maxBodyBytes {
			return false, &httpError{http.StatusRequestEntityTooLarge, "the request body is too large"}
		}
		end := eol + 1 + size
		if len(rest) < end+2 {
			if len(rest) > end && rest[end] != '\r' {
				return false, badRequest("a chunk is longer than its size")
			}
			return false, nil
		}
		if rest[end] != '\r' || rest[end+1] != '\n' {
			return false, badRequest("a chunk is longer than its size")
		}
		c.body = append(c.body, rest[eol+1:end]...)
		c.pos += end + 2
	}
}

func chunkSize(line []byte) (int, *httpError) {
	line, _, _ = bytes.Cut(line, []byte{';'})
	line = trimOWS(line)
	if len(line) == 0 || len(line) > 15 {
		return 0, badRequest("malformed chunk size")
	}
	n := 0
	for _, b := range line {
		d := unhex(b)
		if d < 0 {
			return 0, badRequest("malformed chunk size")
		}
		n = n<<4 | d
	}
	return n, nil
}

func unhex(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b >= 'a' && b <= 'f':
		return int(b-'a') + 10
	case b >= 'A' && b <= 'F':
		return int(b-'A') + 10
	}
	return -1
}

// cutLine splits data after its first line and takes the line's end off.
func cutLine(data []byte) (line, rest []byte) {
	i := bytes.IndexByte(data, '\n')
	if i < 0 {
		return trimCR(data), nil
	}
	return trimCR(data[:i]), data[i+1:]
}

func trimCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

func trimOWS(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// equalFold compares b with an ASCII string that is already in lower case.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// isToken reports whether b is a token of RFC 9110, as methods and field names must be.
func isToken(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	for _, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) >= 0:
		default:
			return false
		}
	}
	return true
}
