//go:build ignore

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// patience bounds a connection: its server leaves when it is over.
const patience = 40 * time.Second

// attack answers a request on a connection, which is closed after it.
type attack func(w io.Writer)

const (
	head   = "HTTP/1.1 200 OK\r\n"
	asJSON = head + "Content-Type: application/json\r\n"
	asSSE  = head + "Content-Type: text/event-stream\r\n"
	reply  = `{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":"hi"}}]}`
	event  = `{"object":"chat.completion.chunk","choices":[{"delta":{"content":"a"}}]}`
)

func piece(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

func whole(headers, body string) string {
	return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", headers, len(body), body)
}

// says answers with a text.
func says(text string) attack {
	return func(w io.Writer) { io.WriteString(w, text) }
}

// forever answers with a text, and with another one again and again.
func forever(start, again string) attack {
	many := strings.Repeat(again, 1+(64<<10)/len(again))
	return func(w io.Writer) {
		_, err := io.WriteString(w, start)
		for err == nil {
			_, err = io.WriteString(w, many)
		}
	}
}

// slowly answers with a text, and with another one every now and then.
func slowly(start, again string) attack {
	return func(w io.Writer) {
		_, err := io.WriteString(w, start)
		for err == nil {
			time.Sleep(200 * time.Millisecond)
			_, err = io.WriteString(w, again)
		}
	}
}

// oneEvent answers with one event of so many megabytes of a line.
func oneEvent(line string, megabytes int) attack {
	return func(w io.Writer) {
		io.WriteString(w, asSSE+"Connection: close\r\n\r\n")
		many := strings.Repeat(line, (1<<20)/len(line))
		for range megabytes {
			if _, err := io.WriteString(w, many); err != nil {
				return
			}
		}
		io.WriteString(w, "\n\ndata: "+event+"\n\ndata: [DONE]\n\n")
	}
}

// bomb answers with a little that unpacks to much, again and again.
func bomb(headers, again string) attack {
	return func(w io.Writer) {
		io.WriteString(w, headers+"Content-Encoding: gzip\r\nConnection: close\r\n\r\n")
		packed := gzip.NewWriter(w)
		many := bytes.Repeat([]byte(again), (1<<20)/len(again))
		for {
			if _, err := packed.Write(many); err != nil {
				return
			}
			if packed.Flush() != nil {
				return
			}
		}
	}
}

func asEvents(data string) string {
	return asSSE + "Connection: close\r\n\r\ndata: " + data + "\n\ndata: [DONE]\n\n"
}

func packed(text string, times int) string {
	for range times {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		text = b.String()
	}
	return text
}

var deep = strings.Repeat("[", 200000)

// attacks are those of a server of HTTP/1.1, by path.
var attacks = map[string]attack{
	"event-fields": oneEvent("a:\n", 200), "event-bare": oneEvent("a\n", 10), "event-cr": oneEvent("a\r", 40),
	"event-data": oneEvent("data:\n", 40), "event-comments": oneEvent(":\n", 40),
	"event-continued": oneEvent("data: {\nx\n", 20),

	"header-endless":      forever(head, "X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n"),
	"header-line-endless": forever(head+"X-A: ", "aaaaaaaaaaaaaaaa"),
	"status-endless":      forever("HTTP/1.1 200 ", "aaaaaaaaaaaaaaaa"),
	"interim-endless":     forever("", "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"),
	"status-negative":     says("HTTP/1.1 -20 x\r\nContent-Length: 0\r\n\r\n"),
	"status-odd":          says("HTTP/1.1 999 \xff\xfe\r\nContent-Length: 0\r\n\r\n"),
	"no-http":             says("hello\n"),
	"switching":           says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: foo\r\nConnection: upgrade\r\n\r\n"),
	"folded-header":       says(head + "X-A: b\rSet-Cookie: x\r\n folded\r\nContent-Length: 2\r\n\r\n{}"),

	"length-negative": says(asJSON + "Content-Length: -5\r\n\r\n{}"),
	"length-twice":    says(asJSON + "Content-Length: 88\r\nContent-Length: 3\r\n\r\n" + reply),
	"length-huge":     says(asJSON + "Content-Length: 9223372036854775807\r\n\r\n{}"),
	"length-overflow": says(asJSON + "Content-Length: 99999999999999999999999\r\n\r\n{}"),
	"length-short":    says(asJSON + "Content-Length: 5000\r\n\r\n" + reply),

	"chunk-overflow":   says(asJSON + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n{}"),
	"chunk-huge":       says(asJSON + "Transfer-Encoding: chunked\r\n\r\n7FFFFFFFFFFFFFF\r\n{}"),
	"chunk-negative":   says(asJSON + "Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n"),
	"chunk-extension":  forever(asJSON+"Transfer-Encoding: chunked\r\n\r\n1;", "aaaaaaaaaaaaaaaa"),
	"chunk-trailer":    forever(asJSON+"Transfer-Encoding: chunked\r\n\r\n"+piece(reply)+"0\r\n", "X-T: aaaaaaa\r\n"),
	"encoding-unknown": says(whole(asJSON+"Content-Encoding: zstd\r\n", "\x28\xb5\x2f\xfd")),
	"encoding-many": says(whole(asJSON+"Content-Encoding: "+strings.Repeat("gzip, ", 99)+"gzip\r\n",
		packed(reply, 100))),
	"encoding-trailing": forever(asJSON+"Content-Encoding: gzip\r\nConnection: close\r\n\r\n"+packed(reply, 1),
		"\x00\x00\x00\x00\x00\x00\x00\x00"),
	"encoding-members": forever(asJSON+"Content-Encoding: gzip\r\nConnection: close\r\n\r\n", packed("", 1)),
	"bomb":             bomb(asJSON, "\x00\x00\x00\x00\x00\x00\x00\x00"),
	"bomb-events":      bomb(asSSE, "data: {}\n\n"),
	"bomb-refusal":     bomb("HTTP/1.1 500 X\r\nContent-Type: text/plain\r\n", "AAAAAAAA"),

	"events-endless":   forever(asSSE+"Connection: close\r\n\r\n", "data: {}\n\n"),
	"comments-endless": forever(asSSE+"Connection: close\r\n\r\n", ": ka\n\n"),
	"tokens-endless":   forever(asSSE+"Connection: close\r\n\r\n", "data: "+event+"\n\n"),
	"no-line-end":      forever(asSSE+"Connection: close\r\n\r\n", "aaaaaaaaaaaaaaaa"),
	"json-endless":     forever(asJSON+"Connection: close\r\n\r\n{\"a\":\"", "aaaaaaaaaaaaaaaa"),
	"json-deep":        says(asEvents(`{"choices":` + deep)),
	"json-deep-usage":  says(asEvents(`{"choices":[{"delta":{"content":"a"}}],"usage":{"a":` + deep + `}}`)),
	"json-numbers": says(asEvents(
		`{"choices":[{"index":NaN,"delta":{"content":"a"}}],"usage":{"prompt_tokens":-1e999,"completion_tokens":99999999999999999999}}`)),
	"json-surrogates":   says(asEvents(`{"choices":[{"delta":{"content":"\ud800 \u0000 \udfff"}}]}`)),
	"json-bytes":        says(asEvents("{\"choices\":[{\"delta\":{\"content\":\"\xff\xfe\xc0\x80\xed\xa0\x80\"}}]}")),
	"json-choices":      says(asEvents(`{"choices":[` + strings.Repeat(`{"delta":{"content":"a"}},`, 100000) + `{}]}`)),
	"comments-slow":     slowly(asSSE+"Connection: close\r\n\r\n", ": ka\n\n"),
	"drip":              slowly(asJSON+"Content-Length: 1000000\r\n\r\n", " "),
	"silent":            slowly("", ""),
	"redirects-endless": says("HTTP/1.1 307 T\r\nLocation: /redirects-endless\r\nContent-Length: 0\r\n\r\n"),
	"redirect-file":     says("HTTP/1.1 307 T\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"),
	"redirect-break":    says("HTTP/1.1 307 T\r\nLocation: /a%0d%0aX-Inj:1/\xff\x00\r\nContent-Length: 0\r\n\r\n"),
	"script": says(whole("HTTP/1.1 500 <img src=x onerror=PWN()>\r\n",
		`</script><script>PWN()</script><img src=x onerror=PWN()>`)),
	"escapes": says(whole("HTTP/1.1 500 \x1b[31mBad\r\n",
		"{\"error\":{\"message\":\"\x1b[31mRED\x1b]0;owned\x07\\u001b[2J\"}}")),
	"escapes-model": says(asEvents(
		`{"model":"\u001b[31mM","choices":[{"delta":{"content":"\u001b]0;owned\u0007\u001b[2J"}}]}`)),
	"escapes-event": says(asSSE + "Connection: close\r\n\r\nevent: error\ndata: " +
		"{\"error\":{\"message\":\"\\u001b[31mRED\"}}\n\n"),
	"ok": says(asEvents(event)),
}

// accept serves each connection of a listener, for as long as patience lasts.
func accept(l net.Listener, serve func(net.Conn)) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(patience))
			serve(conn)
		}()
	}
}

// serve answers the request of a connection with the attack that its path names.
func serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	name, length := "", 0
	for n := 0; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if n == 0 {
			name, _, _ = strings.Cut(strings.TrimPrefix(strings.Fields(line + " / ")[1], "/"), "/")
		}
		fmt.Sscanf(strings.ToLower(line), "content-length: %d", &length)
		if strings.TrimSpace(line) == "" {
			break
		}
	}
	if _, err := io.CopyN(io.Discard, in, int64(length)); err != nil {
		return
	}
	if f := attacks[name]; f != nil {
		f(conn)
	}
}
