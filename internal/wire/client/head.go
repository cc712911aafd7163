package client

import (
	"bytes"
	"net/http"
	"strings"
)

// usualHead is the head of a reply that was read in place: 200, framed by a length or by chunks, to be kept open. Its
// response holds of the header only what the reading of the body needs, the content type. net/http makes a map and a
// dozen strings of a head, which is an eighth of the time of a short exchange.
type usualHead struct {
	response    http.Response
	header      http.Header
	contentType []string // the values of the header, one
}

var chunkedOnly = []string{"chunked"}

const (
	usualStatus = "HTTP/1.1 200 OK\r\n"
	endOfHead   = "\r\n\r\n"
)

// read consumes the head if it is a usual one and has been read from the network as a whole; otherwise it consumes
// nothing and returns nil: net/http then decides what it is.
func (u *usualHead) read(in *inbox) *http.Response {
	b := in.buffered()
	n := bytes.Index(b, []byte(endOfHead))
	if n < 0 || !bytes.HasPrefix(b, []byte(usualStatus)) || !u.parse(b[len(usualStatus):n+len("\r\n")]) {
		return nil
	}
	in.Discard(n + len(endOfHead))
	return &u.response
}

// parse reads the lines of a header, each with its end.
func (u *usualHead) parse(lines []byte) bool {
	if u.header == nil {
		u.contentType = []string{""}
		u.header = http.Header{"Content-Type": u.contentType}
	}
	u.response = http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1, Header: u.header, ContentLength: -1}
	typed, sized := false, false
	for len(lines) > 0 {
		end := bytes.IndexByte(lines, '\r')
		if end < 0 || end+1 >= len(lines) || lines[end+1] != '\n' {
			return false
		}
		name, value, ok := cutField(lines[:end])
		if !ok {
			return false
		}
		lines = lines[end+len("\r\n"):]
		switch {
		case isName(name, "content-type"):
			if typed {
				return false
			}
			typed = true
			u.setContentType(value)
		case isName(name, "content-length"):
			if sized || !u.setLength(value) {
				return false
			}
			sized = true
		case isName(name, "transfer-encoding"):
			if sized || !bytes.EqualFold(value, []byte("chunked")) {
				return false
			}
			sized = true
			u.response.TransferEncoding = chunkedOnly
		case isName(name, "connection"):
			if !bytes.EqualFold(value, []byte("keep-alive")) {
				return false
			}
		case isName(name, "keep-alive"), isName(name, "content-encoding"), isName(name, "trailer"):
			return false
		}
	}
	if !typed {
		u.contentType[0] = ""
	}
	return sized
}

// setContentType makes no new string of a type that the last reply had, too.
func (u *usualHead) setContentType(value []byte) {
	if string(value) != u.contentType[0] {
		u.contentType[0] = string(value)
	}
}

// maxLengthDigits keeps a length within an int64.
const maxLengthDigits = 18

func (u *usualHead) setLength(value []byte) bool {
	if len(value) == 0 || len(value) > maxLengthDigits {
		return false
	}
	n := int64(0)
	for _, c := range value {
		if c < '0' || c > '9' {
			return false
		}
		n = 10*n + int64(c-'0')
	}
	u.response.ContentLength = n
	return true
}

// cutField splits a line; false if net/http may judge it in another way than as a name and a value of plain text.
func cutField(line []byte) (name, value []byte, ok bool) {
	i := bytes.IndexByte(line, ':')
	if i <= 0 {
		return nil, nil, false
	}
	name, value = line[:i], bytes.Trim(line[i+1:], " \t")
	for _, c := range name {
		if letter := 'a' <= c|0x20 && c|0x20 <= 'z'; !letter && c != '-' && (c < '0' || c > '9') {
			return nil, nil, false
		}
	}
	for _, c := range value {
		if (c < ' ' && c != '\t') || c > '~' {
			return nil, nil, false
		}
	}
	return name, value, true
}

// isName reports whether a name is the one in lower case.
func isName(name []byte, lower string) bool {
	return len(name) == len(lower) && strings.EqualFold(string(name), lower)
}
