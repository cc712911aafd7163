// Package oip encodes and decodes the messages of the open inference protocol (KServe's second one, Triton's), as gRPC
// carries them and as JSON over HTTP does.
//
// oip.proto describes them. They are coded by hand on the primitives of the protobuf library: a reply is read in place,
// without allocation, and no descriptors are set up when the program starts. A Message that was parsed points into the
// bytes that it was parsed from. The package opens no connection and knows nothing of turns and benchmarks.
package oip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// The calls of the protocol, as paths of gRPC.
const (
	service          = "/inference.GRPCInferenceService/"
	ServerReady      = service + "ServerReady"
	ModelReady       = service + "ModelReady"
	ModelMetadata    = service + "ModelMetadata"
	ModelConfig      = service + "ModelConfig"
	ModelInfer       = service + "ModelInfer"
	ModelStreamInfer = service + "ModelStreamInfer"
)

// The data types that this program makes and reads; others stay bytes.
const (
	Bytes  = "BYTES"
	Bool   = "BOOL"
	Float  = "FP32"
	Double = "FP64"
)

// Parameter is a parameter of a request or a reply. Value is JSON text.
type Parameter struct {
	Name  string
	Value []byte
}

// Tensor is an input or an output.
type Tensor struct {
	Name, Datatype []byte
	Shape          []int64
	// Texts are the elements of BYTES; Numbers those of FP32, FP64 and of the integers, where they were
	// not sent raw.
	Texts   [][]byte
	Numbers []float64
	// Raw is what was sent instead, nil if nothing was.
	Raw []byte
}

// Message is a request for an inference, or its reply.
type Message struct {
	Model, Version, ID []byte
	Parameters         []Parameter
	Tensors            []Tensor // inputs of a request, outputs of a reply
	Asked              [][]byte // names of the outputs that a request asks for
}

// Text makes a tensor of texts.
func Text(name string, texts ...string) Tensor {
	t := Tensor{Name: []byte(name), Datatype: []byte(Bytes), Shape: []int64{int64(len(texts))}}
	for _, text := range texts {
		t.Texts = append(t.Texts, []byte(text))
	}
	return t
}

// Repeat gives the tensor the elements of so many equal rows. The shape is the caller's to set.
func (t *Tensor) Repeat(rows int) {
	if rows < 1 {
		return
	}
	t.Texts, t.Numbers = slices.Repeat(t.Texts, rows), slices.Repeat(t.Numbers, rows)
}

// Elements is the number of elements that the tensor holds, as far as it is known.
func (t *Tensor) Elements() int {
	if t.Raw == nil {
		return len(t.Texts) + len(t.Numbers)
	}
	n := t.size()
	if n < 0 || n > int64(len(t.Raw)) {
		return len(t.Raw) // every type has a byte for each element at least
	}
	return int(n)
}

// EachText walks the texts of a tensor of BYTES, those of raw contents too; false if these are broken.
func (t *Tensor) EachText(yield func([]byte)) bool {
	for _, text := range t.Texts {
		yield(text)
	}
	for raw := t.Raw; len(raw) > 0; {
		if len(raw) < 4 {
			return false
		}
		n := uint64(binary.LittleEndian.Uint32(raw))
		if raw = raw[4:]; n > uint64(len(raw)) {
			return false
		}
		yield(raw[:n])
		raw = raw[n:]
	}
	return true
}

// Pack turns the elements of texts and floats into raw contents, the form in which servers send them.
func (t *Tensor) Pack() {
	raw := []byte{}
	switch string(t.Datatype) {
	case Bytes:
		for _, text := range t.Texts {
			raw = append(binary.LittleEndian.AppendUint32(raw, uint32(len(text))), text...)
		}
	case Float:
		for _, x := range t.Numbers {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
		}
	default:
		return
	}
	t.Raw, t.Texts, t.Numbers = raw, nil, nil
}

// Field numbers that requests and replies share, and those of their own.
const (
	fModel, fVersion, fID, fParameters, fTensors = 1, 2, 3, 4, 5
	fAsked, fRawInput                            = 6, 7
	fRawOutput                                   = 6
	fName, fDatatype, fShape, fContents          = 1, 2, 3, 5
	fBytesContents, fFP32Contents, fFP64Contents = 8, 6, 7
	fUint64Contents                              = 5
	fBoolParam, fInt64Param, fStringParam        = 1, 2, 3
	fDoubleParam, fUint64Param                   = 4, 5
	fErrorMessage, fInferResponse                = 1, 2
	fReady                                       = 1
)

// contentsOf are the contents of numbers, by data type.
var contentsOf = map[string]protowire.Number{
	Bool: 1, "INT8": 2, "INT16": 2, "INT32": 2, "INT64": 3, "UINT8": 4, "UINT16": 4, "UINT32": 4,
	"UINT64": fUint64Contents,
	Float:    fFP32Contents, Double: fFP64Contents,
}

// AppendRequest appends the message of a request.
func (m *Message) AppendRequest(dst []byte) []byte {
	dst = m.appendHead(dst)
	for _, name := range m.Asked {
		dst = appendBytes(dst, fAsked, appendBytes(nil, fName, name))
	}
	for i := range m.Tensors {
		if raw := m.Tensors[i].Raw; raw != nil {
			dst = appendBytes(dst, fRawInput, raw)
		}
	}
	return dst
}

// AppendReply appends the message of a reply.
func (m *Message) AppendReply(dst []byte) []byte {
	dst = m.appendHead(dst)
	for i := range m.Tensors {
		if raw := m.Tensors[i].Raw; raw != nil {
			dst = appendBytes(dst, fRawOutput, raw)
		}
	}
	return dst
}

// AppendStreamReply appends the message that carries a reply within a stream, or what went wrong.
func AppendStreamReply(dst []byte, m *Message, fault string) []byte {
	dst = appendText(dst, fErrorMessage, []byte(fault))
	if m != nil {
		dst = appendBytes(dst, fInferResponse, m.AppendReply(nil))
	}
	return dst
}

// AppendModelName appends the question about a model: whether it is ready, its metadata or its configuration.
func AppendModelName(dst []byte, model string) []byte { return appendText(dst, fName, []byte(model)) }

// AppendReady appends the answer to a question for readiness.
func AppendReady(dst []byte, ready bool) []byte {
	if ready {
		dst = protowire.AppendVarint(protowire.AppendTag(dst, fReady, protowire.VarintType), 1)
	}
	return dst
}

func (m *Message) appendHead(dst []byte) []byte {
	dst = appendText(dst, fModel, m.Model)
	dst = appendText(dst, fVersion, m.Version)
	dst = appendText(dst, fID, m.ID)
	for i := range m.Parameters {
		p := &m.Parameters[i]
		entry := appendText(nil, 1, []byte(p.Name))
		entry = appendBytes(entry, 2, appendParameter(nil, p.Value))
		dst = appendBytes(dst, fParameters, entry)
	}
	for i := range m.Tensors {
		dst = appendBytes(dst, fTensors, m.Tensors[i].append(nil))
	}
	return dst
}

// append appends the tensor as a message. The datatype decides in which list of contents numbers go, and how they are
// packed; a datatype that is not known is sent as FP32.
func (t *Tensor) append(dst []byte) []byte {
	dst = appendText(dst, fName, t.Name)
	dst = appendText(dst, fDatatype, t.Datatype)
	var shape []byte
	for _, d := range t.Shape {
		shape = protowire.AppendVarint(shape, uint64(d))
	}
	if len(shape) > 0 {
		dst = appendBytes(dst, fShape, shape)
	}
	var contents []byte
	for _, text := range t.Texts {
		contents = appendBytes(contents, fBytesContents, text)
	}
	if len(t.Numbers) > 0 {
		field, packed := contentsOf[string(t.Datatype)], []byte(nil)
		for _, x := range t.Numbers {
			switch field {
			case fFP64Contents:
				packed = protowire.AppendFixed64(packed, math.Float64bits(x))
			case 0, fFP32Contents:
				field, packed = fFP32Contents, protowire.AppendFixed32(packed, math.Float32bits(float32(x)))
			case fUint64Contents:
				packed = protowire.AppendVarint(packed, uint64(x))
			default:
				packed = protowire.AppendVarint(packed, uint64(int64(x)))
			}
		}
		contents = appendBytes(contents, field, packed)
	}
	if len(contents) > 0 {
		dst = appendBytes(dst, fContents, contents)
	}
	return dst
}

// appendParameter writes a JSON value as the kind of parameter that it is: lists and objects as their text.
func appendParameter(dst, value []byte) []byte {
	text := string(value)
	if text == "true" || text == "false" {
		n := uint64(0)
		if text == "true" {
			n = 1
		}
		return protowire.AppendVarint(protowire.AppendTag(dst, fBoolParam, protowire.VarintType), n)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return protowire.AppendVarint(protowire.AppendTag(dst, fInt64Param, protowire.VarintType), uint64(n))
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return protowire.AppendVarint(protowire.AppendTag(dst, fUint64Param, protowire.VarintType), n)
	}
	if len(text) > 0 && strings.IndexByte("-0123456789", text[0]) >= 0 {
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			return protowire.AppendFixed64(protowire.AppendTag(dst, fDoubleParam, protowire.Fixed64Type),
				math.Float64bits(x))
		}
	}
	return appendBytes(dst, fStringParam, []byte(unquote(text)))
}

// appendText leaves an empty text out, as the format has it.
func appendText(dst []byte, field protowire.Number, text []byte) []byte {
	if len(text) == 0 {
		return dst
	}
	if !utf8.Valid(text) { // the format demands it of strings
		text = []byte(strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	return appendBytes(dst, field, text)
}

func appendBytes(dst []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, field, protowire.BytesType), value)
}

var errBroken = errors.New("not a message of the open inference protocol")

func broken(what string) error { return fmt.Errorf("%w: %s", errBroken, what) }
