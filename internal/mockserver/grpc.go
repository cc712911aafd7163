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
	"aiperf/internal/mockserver/api"
	"aiperf/internal/mockserver/httpd"
	"aiperf/internal/wire/oip"
)

// The statuses of gRPC that the server gives.
const (
	ok              = 0
	unknown         = 2
	invalidArgument = 3
	tooLarge        = 8
	unimplemented   = 12
	internal        = 13
)

// statuses are the statuses of gRPC that correspond to those of HTTP.
var statuses = map[int]int{
	400: invalidArgument, 401: 16, 403: 7, 404: 5, 408: 4, 409: 10, 413: tooLarge, 422: invalidArgument,
	429: tooLarge, 499: 1,
	500: internal, 501: unimplemented, 502: 14, 503: 14, 504: 4,
}

// maxMessage bounds the size of a request's message in bytes.
const maxMessage = 256 << 20

// grpcReply is the sending side of a call.
type grpcReply struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	begun bool
}

// grpcHandler answers calls.
type grpcHandler struct{ Server *httpd.Server }

// ServeHTTP implements http.Handler.
func (h grpcHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &grpcReply{w: w, flush: http.NewResponseController(w)}
	message, status, why := readMessage(r.Body)
	if status != ok {
		out.end(status, why)
		return
	}
	switch path := r.URL.Path; path {
	case oip.ServerReady:
		h.ready(out, r, "/v2/health/ready")
	case oip.ModelReady:
		h.ofModel(out, message, func(path string) { h.ready(out, r, path+api.OIPReady) })
	case oip.ModelMetadata:
		h.ofModel(out, message, func(path string) { h.describe(out, r, path, (*oip.Model).AppendModelMetadata) })
	case oip.ModelConfig:
		h.ofModel(out, message, func(path string) { h.describe(out, r, path, (*oip.Model).AppendModelConfig) })
	case oip.ModelInfer, oip.ModelStreamInfer:
		h.inference(out, r, message)
	default:
		out.end(unimplemented, "no such call: "+path)
	}
}

// readMessage reads the one message of a request.
func readMessage(body io.Reader) (message []byte, status int, why string) {
	var head [5]byte
	if _, err := io.ReadFull(body, head[:]); err != nil {
		return nil, internal, "the message is missing"
	}
	n := binary.BigEndian.Uint32(head[1:])
	switch {
	case head[0] != 0:
		return nil, unimplemented, "compressed messages are not supported"
	case n > maxMessage:
		return nil, tooLarge, "the message has more than " + strconv.Itoa(maxMessage) + " bytes"
	}
	var b bytes.Buffer
	if got, _ := io.CopyN(&b, body, int64(n)); got != int64(n) {
		return nil, internal, "the message is not whole"
	}
	return b.Bytes(), ok, ""
}

// metadataOf returns the metadata of a call as headers.
func metadataOf(h http.Header) http.Header {
	h = httpd.EndToEnd(h)
	for name := range h {
		if name == "Content-Type" || strings.HasPrefix(name, "Grpc-") {
			h.Del(name)
		}
	}
	return h
}

// ready answers whether a server or model is ready.
func (h grpcHandler) ready(out *grpcReply, r *http.Request, path string) {
	resp := h.Server.Forward(r, http.MethodGet, path, metadataOf(r.Header), nil)
	defer resp.Close()
	switch resp.StatusCode {
	case http.StatusOK, http.StatusServiceUnavailable:
		out.message(oip.AppendReady(nil, resp.StatusCode == http.StatusOK))
		out.end(ok, "")
	default:
		out.refuse(resp)
	}
}

// ofModel answers a question about a model, given its path.
func (h grpcHandler) ofModel(out *grpcReply, message []byte, answer func(path string)) {
	model, err := oip.ParseModelName(message)
	if err != nil {
		out.end(invalidArgument, err.Error())
		return
	}
	answer(api.OIPModels + url.PathEscape(model))
}

// describe answers a question about the inputs of a model.
func (h grpcHandler) describe(out *grpcReply, r *http.Request, path string, form func(*oip.Model, []byte) []byte) {
	resp := h.Server.Forward(r, http.MethodGet, path, metadataOf(r.Header), nil)
	defer resp.Close()
	if resp.StatusCode != http.StatusOK {
		out.refuse(resp)
		return
	}
	out.message(form(api.OIPInputs(api.OIPModel(path)), nil))
	out.end(ok, "")
}

// inference answers a request for an inference.
func (h grpcHandler) inference(out *grpcReply, r *http.Request, message []byte) {
	var m oip.Message
	if err := m.ParseRequest(message); err != nil {
		out.end(invalidArgument, err.Error())
		return
	}
	model := api.AppendString([]byte(`{"model_name":`), string(m.Model))
	body := append(append(model, ','), m.AppendRequestJSON(nil)[1:]...)
	header := metadataOf(r.Header)
	header.Set("Content-Type", api.JSONType)
	resp := h.Server.Forward(r, http.MethodPost, r.URL.Path, header, body)
	defer resp.Close()
	for _, name := range []string{"Set-Cookie", http.CanonicalHeaderKey(sessionHeader)} {
		for _, value := range resp.Header.Values(name) {
			out.w.Header().Add(name, value)
		}
	}
	contentType := resp.Header.Get("Content-Type")
	switch {
	case resp.StatusCode != http.StatusOK:
		out.refuse(resp)
	case strings.HasPrefix(contentType, "text/event-stream"):
		if out.events(resp.Body) != nil {
			resp.Abort()
		}
	case strings.HasPrefix(contentType, api.JSONType):
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			resp.Abort()
		}
		out.message(replyOf(text, r.URL.Path == oip.ModelStreamInfer))
		out.end(ok, "")
	default:
		out.w.Header().Set("Content-Type", contentType)
		io.Copy(out.w, resp.Body)
	}
}

// replyOf returns the message of a JSON reply. A reply that is an error has its text where a stream has a place for
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

// events turns the events of a stream into messages; it returns an error if the stream was cut.
func (o *grpcReply) events(body io.Reader) error {
	o.head()
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				o.end(ok, "")
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

// refuse ends the call by the status of a reply.
func (o *grpcReply) refuse(resp *httpd.Forwarded) {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what came of it
	why := string(text)
	if fault := jsonscan.Find(text, "error"); fault != nil {
		why = plainText(jsonscan.Find(fault, "message"))
	} else if detail := jsonscan.Find(text, "detail"); detail != nil {
		why = plainText(detail)
	}
	status, known := statuses[resp.StatusCode]
	if !known {
		status = unknown
	}
	o.end(status, why)
}

// percentEncoded returns a text as a status carries it.
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
