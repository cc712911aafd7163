package mockserver

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/wire/oip"
)

// This file speaks gRPC: it turns a call of the open inference protocol into a request to the engine, and the
// reply into messages and a status.

// Statuses of gRPC that the server gives.
const (
	grpcOK              = 0
	grpcUnknown         = 2
	grpcInvalidArgument = 3
	grpcTooLarge        = 8
	grpcUnimplemented   = 12
	grpcInternal        = 13
)

// grpcOf are the statuses that say the same as those of HTTP.
var grpcOf = map[int]int{
	400: grpcInvalidArgument, 401: 16, 403: 7, 404: 5, 408: 4, 409: 10, 413: grpcTooLarge, 422: grpcInvalidArgument,
	429: grpcTooLarge, 499: 1,
	500: grpcInternal, 501: grpcUnimplemented, 502: 14, 503: 14, 504: 4,
}

// maxMessage bounds a message that comes in.
const maxMessage = 256 << 20

// reply is the sending side of a call.
type grpcReply struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	begun bool
}

// call answers a call.
func (f *front) call(w http.ResponseWriter, r *http.Request) {
	out := &grpcReply{w: w, flush: http.NewResponseController(w)}
	message, status, why := readMessage(r.Body)
	if status != grpcOK {
		out.end(status, why)
		return
	}
	switch path := r.URL.Path; path {
	case oip.ServerReady:
		f.ready(out, r, "/v2/health/ready")
	case oip.ModelReady:
		model, err := oip.ParseModelReady(message)
		if err != nil {
			out.end(grpcInvalidArgument, err.Error())
			return
		}
		f.ready(out, r, oipModels+url.PathEscape(model)+oipReady)
	case oip.ModelInfer, oip.ModelStreamInfer:
		f.inference(out, r, message)
	default:
		out.end(grpcUnimplemented, "no such call: "+path)
	}
}

// readMessage reads the one message of a request.
func readMessage(body io.Reader) (message []byte, status int, why string) {
	var head [5]byte
	if _, err := io.ReadFull(body, head[:]); err != nil {
		return nil, grpcInternal, "the message is missing"
	}
	n := binary.BigEndian.Uint32(head[1:])
	switch {
	case head[0] != 0:
		return nil, grpcUnimplemented, "compressed messages are not supported"
	case n > maxMessage:
		return nil, grpcTooLarge, "the message has more than " + strconv.Itoa(maxMessage) + " bytes"
	}
	var b bytes.Buffer
	if got, _ := io.CopyN(&b, body, int64(n)); got != int64(n) {
		return nil, grpcInternal, "the message is not whole"
	}
	return b.Bytes(), grpcOK, ""
}

// metadataOf is the metadata of a call as headers.
func metadataOf(h http.Header) http.Header {
	h = forwarded(h)
	for name := range h {
		if name == "Content-Type" || strings.HasPrefix(name, "Grpc-") {
			h.Del(name)
		}
	}
	return h
}

// ready answers a question for readiness.
func (f *front) ready(out *grpcReply, r *http.Request, path string) {
	resp, in, end, err := f.open(r, http.MethodGet, path, metadataOf(r.Header), nil)
	if err != nil {
		f.abort(r, in)
	}
	defer end()
	switch resp.StatusCode {
	case http.StatusOK, http.StatusServiceUnavailable:
		out.message(oip.AppendReady(nil, resp.StatusCode == http.StatusOK))
		out.end(grpcOK, "")
	default:
		out.refuse(resp)
	}
}

// inference answers a request for an inference.
func (f *front) inference(out *grpcReply, r *http.Request, message []byte) {
	var m oip.Message
	if err := m.ParseRequest(message); err != nil {
		out.end(grpcInvalidArgument, err.Error())
		return
	}
	model := appendJSONString([]byte(`{"model_name":`), string(m.Model))
	body := append(append(model, ','), m.AppendRequestJSON(nil)[1:]...)
	header := metadataOf(r.Header)
	header.Set("Content-Type", jsonType)
	resp, in, end, err := f.open(r, http.MethodPost, r.URL.Path, header, body)
	if err != nil {
		f.abort(r, in)
	}
	defer end()
	contentType := resp.Header.Get("Content-Type")
	switch {
	case resp.StatusCode != http.StatusOK:
		out.refuse(resp)
	case strings.HasPrefix(contentType, "text/event-stream"):
		if out.events(resp.Body) != nil {
			f.abort(r, in)
		}
	case strings.HasPrefix(contentType, jsonType):
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			f.abort(r, in)
		}
		out.message(replyOf(text, r.URL.Path == oip.ModelStreamInfer))
		out.end(grpcOK, "")
	default:
		out.w.Header().Set("Content-Type", contentType)
		io.Copy(out.w, resp.Body)
	}
}

// replyOf makes the message of a JSON reply. A reply that is an error says so where a stream has a place for
// it, and is empty otherwise; one whose JSON is broken is not a message.
func replyOf(text []byte, streamed bool) []byte {
	if !json.Valid(text) {
		return []byte("\xff\xff")
	}
	fault := plainText(jsonscan.Find(jsonscan.Find(text, "error"), "message"))
	m, err := oip.ReplyFromJSON(text)
	switch {
	case fault == "" && err != nil:
		fault = err.Error()
		fallthrough
	case fault != "":
		m = nil
	}
	if m != nil {
		for i := range m.Tensors {
			m.Tensors[i].Pack()
		}
	}
	if streamed {
		return oip.AppendStreamReply(nil, m, fault)
	}
	if m == nil {
		return nil
	}
	return m.AppendReply(nil)
}

func plainText(value []byte) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	return text
}

// events turns the events of a stream into messages; an error tells that the stream was cut.
func (o *grpcReply) events(body io.Reader) error {
	o.head()
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				o.end(grpcOK, "")
				return nil
			}
			return err
		}
		data, found := bytes.CutPrefix(bytes.TrimRight(line, "\n"), []byte("data: "))
		if !found {
			continue
		}
		o.message(replyOf(data, true))
	}
}

// head sends the head before there is a message.
func (o *grpcReply) head() {
	if !o.begun {
		o.begun = true
		o.w.Header().Set("Content-Type", "application/grpc")
		o.w.WriteHeader(http.StatusOK)
		o.flush.Flush()
	}
}

func (o *grpcReply) message(b []byte) {
	if !o.begun {
		o.begun = true
		o.w.Header().Set("Content-Type", "application/grpc")
	}
	frame := append(make([]byte, 5, 5+len(b)), b...)
	binary.BigEndian.PutUint32(frame[1:], uint32(len(b)))
	o.w.Write(frame)
	o.flush.Flush()
}

// end sends the status: behind the messages, or alone.
func (o *grpcReply) end(status int, why string) {
	prefix := http.TrailerPrefix
	if !o.begun {
		prefix = ""
		o.w.Header().Set("Content-Type", "application/grpc")
	}
	o.w.Header().Set(prefix+"Grpc-Status", strconv.Itoa(status))
	if why != "" {
		o.w.Header().Set(prefix+"Grpc-Message", percentEncoded(why))
	}
}

// refuse ends the call by the status of an engine's reply.
func (o *grpcReply) refuse(resp *http.Response) {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what came of it
	why := string(text)
	if fault := jsonscan.Find(text, "error"); fault != nil {
		why = plainText(jsonscan.Find(fault, "message"))
	} else if detail := jsonscan.Find(text, "detail"); detail != nil {
		why = plainText(detail)
	}
	status, known := grpcOf[resp.StatusCode]
	if !known {
		status = grpcUnknown
	}
	o.end(status, why)
}

// percentEncoded is a text as a status carries it.
func percentEncoded(text string) string {
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(text))
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '%' {
			b = append(b, '%', hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}
