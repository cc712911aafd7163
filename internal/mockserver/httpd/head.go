package httpd

import (
	"bytes"
	"net/http"
)

const (
	maxHeadBytes = 64 << 10
	maxBodyBytes = 128 << 20
	// maxChunkLine bounds one chunk-size or trailer line.
	maxChunkLine = 4 << 10
)

// Error is a refusal of a request.
type Error struct {
	Status  int
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// BadRequest returns the refusal of a malformed request.
func BadRequest(message string) *Error { return &Error{http.StatusBadRequest, message} }

// Head is a parsed request head. Its slices point into the bytes it was parsed from.
type Head struct {
	Method, Path []byte
	Fields       []Field // as received, in their order
	HTTP10       bool

	Length    int64 // of the body; -1 without Content-Length
	Chunked   bool  // the body comes in chunks
	Close     bool  // the client wants the connection closed
	KeepAlive bool  // an HTTP/1.0 client wants it kept
	Expect    bool  // the client waits for 100 Continue
}

// Field is a header field.
type Field struct{ Name, Value []byte }

// Is reports whether the field has a name, which is given in lower case.
func (f *Field) Is(lower string) bool { return len(f.Name) == len(lower) && EqualFold(f.Name, lower) }

// HeadEnd returns the length of the request head at the start of data including its empty line,
// or -1 while that has not arrived. from says how much was looked at before.
func HeadEnd(data []byte, from int) int {
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

// Parse reads a complete head, as [HeadEnd] delimits it, into h.
func (h *Head) Parse(data []byte) *Error {
	*h = Head{Length: -1, Fields: h.Fields[:0]}
	line, rest := cutLine(data)
	if err := h.requestLine(line); err != nil {
		return err
	}
	hosts := 0
	for {
		line, rest = cutLine(rest)
		if len(line) == 0 {
			break
		}
		colon := bytes.IndexByte(line, ':')
		if colon <= 0 || !IsToken(line[:colon]) {
			return BadRequest("malformed header line")
		}
		f := Field{line[:colon], trimOWS(line[colon+1:])}
		if bytes.IndexByte(f.Value, 0) >= 0 || bytes.IndexByte(f.Value, '\r') >= 0 {
			return BadRequest("a header value contains a control character")
		}
		if f.Is("host") {
			hosts++
		}
		if err := h.field(&f); err != nil {
			return err
		}
		h.Fields = append(h.Fields, f)
	}
	switch {
	case hosts == 0 && !h.HTTP10:
		return BadRequest("missing Host header")
	case hosts > 1:
		return BadRequest("several Host headers")
	case h.Chunked && h.Length >= 0:
		return BadRequest("both Content-Length and Transfer-Encoding are given")
	case h.Chunked && h.HTTP10:
		return BadRequest("Transfer-Encoding is not part of HTTP/1.0")
	case h.Length > maxBodyBytes:
		return &Error{http.StatusRequestEntityTooLarge, "the request body is too large"}
	}
	return nil
}

func (h *Head) requestLine(line []byte) *Error {
	method, rest, ok := bytes.Cut(line, []byte{' '})
	target, version, ok2 := bytes.Cut(rest, []byte{' '})
	if !ok || !ok2 || !IsToken(method) || len(target) == 0 {
		return BadRequest("malformed request line")
	}
	for _, b := range target {
		if b <= ' ' || b == 0x7f {
			return BadRequest("malformed request target")
		}
	}
	switch string(version) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		h.HTTP10 = true
	default:
		if bytes.HasPrefix(version, []byte("HTTP/")) {
			return &Error{http.StatusHTTPVersionNotSupported, "only HTTP/1.1 and HTTP/1.0 are supported"}
		}
		return BadRequest("malformed request line")
	}
	h.Method = method
	h.Path = targetPath(target)
	return nil
}

// targetPath returns the path of a request target in origin or absolute form, without the query.
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

// field notes a header field that frames the request or ends the connection; the length of the name sorts out most
// others.
func (h *Head) field(f *Field) *Error {
	switch len(f.Name) {
	case len("expect"):
		if f.Is("expect") {
			if !EqualFold(f.Value, "100-continue") {
				return &Error{http.StatusExpectationFailed, "unknown expectation"}
			}
			h.Expect = true
		}
	case len("connection"):
		if f.Is("connection") {
			h.connection(f.Value)
		}
	case len("content-length"):
		if f.Is("content-length") {
			return h.contentLength(f.Value)
		}
	case len("transfer-encoding"):
		if f.Is("transfer-encoding") {
			if h.Chunked || !EqualFold(f.Value, "chunked") {
				return &Error{http.StatusNotImplemented, "only the chunked transfer encoding is supported"}
			}
			h.Chunked = true
		}
	}
	return nil
}

func (h *Head) connection(value []byte) {
	for len(value) > 0 {
		option, rest, _ := bytes.Cut(value, []byte{','})
		option = trimOWS(option)
		switch {
		case EqualFold(option, "close"):
			h.Close = true
		case EqualFold(option, "keep-alive"):
			h.KeepAlive = true
		}
		value = rest
	}
}

func (h *Head) contentLength(value []byte) *Error {
	if len(value) == 0 || len(value) > 18 {
		return BadRequest("malformed Content-Length")
	}
	var n int64
	for _, b := range value {
		if b < '0' || b > '9' {
			return BadRequest("malformed Content-Length")
		}
		n = n*10 + int64(b-'0')
	}
	if h.Length >= 0 && h.Length != n {
		return BadRequest("conflicting Content-Length headers")
	}
	h.Length = n
	return nil
}

// ChunkReader takes a chunked body apart. Feed is given all bytes since the body's start each time.
type ChunkReader struct {
	Body     []byte // so far
	Consumed int    // bytes of the chunked form so far
	trailer  bool
}

// Feed consumes the whole chunks of data and reports whether the body is complete.
func (c *ChunkReader) Feed(data []byte) (done bool, err *Error) {
	for {
		rest := data[c.Consumed:]
		eol := bytes.IndexByte(rest, '\n')
		if eol < 0 {
			if len(rest) > maxChunkLine {
				return false, BadRequest("a chunk header is too long")
			}
			return false, nil
		}
		line := trimCR(rest[:eol])
		if c.trailer {
			c.Consumed += eol + 1
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
			c.Consumed += eol + 1
			continue
		}
		if len(c.Body)+size > maxBodyBytes {
			return false, &Error{http.StatusRequestEntityTooLarge, "the request body is too large"}
		}
		end := eol + 1 + size
		if len(rest) < end+2 {
			if len(rest) > end && rest[end] != '\r' {
				return false, BadRequest("a chunk is longer than its size")
			}
			return false, nil
		}
		if rest[end] != '\r' || rest[end+1] != '\n' {
			return false, BadRequest("a chunk is longer than its size")
		}
		c.Body = append(c.Body, rest[eol+1:end]...)
		c.Consumed += end + 2
	}
}

func chunkSize(line []byte) (int, *Error) {
	line, _, _ = bytes.Cut(line, []byte{';'})
	line = trimOWS(line)
	if len(line) == 0 || len(line) > 15 {
		return 0, BadRequest("malformed chunk size")
	}
	n := 0
	for _, b := range line {
		d := unhex(b)
		if d < 0 {
			return 0, BadRequest("malformed chunk size")
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

// EqualFold reports whether b is, but for the case of letters, an ASCII string in lower case.
func EqualFold(b []byte, lower string) bool {
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

// IsToken reports whether b is a token of RFC 9110, as methods and field names must be.
func IsToken(b []byte) bool {
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
