package oip

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// reset empties the message and keeps its room.
func (m *Message) reset() {
	for i := range m.Tensors {
		m.Tensors[i] = m.Tensors[i].emptied()
	}
	*m = Message{Parameters: m.Parameters[:0], Tensors: m.Tensors[:0], Asked: m.Asked[:0]}
}

func (t *Tensor) emptied() Tensor {
	return Tensor{Shape: t.Shape[:0], Texts: t.Texts[:0], Numbers: t.Numbers[:0]}
}

// ParseRequest reads the message of a request.
func (m *Message) ParseRequest(data []byte) error { return m.parse(data, fRawInput, fAsked) }

// ParseReply reads the message of a reply.
func (m *Message) ParseReply(data []byte) error { return m.parse(data, fRawOutput, 0) }

// ParseStreamReply reads the message that carries a reply within a stream. A reply without content, which
// ends some streams, has no tensors.
func (m *Message) ParseStreamReply(data []byte) (fault []byte, err error) {
	m.reset()
	err = texts(data, func(n protowire.Number, value []byte) error {
		switch n {
		case fErrorMessage:
			fault = value
		case fInferResponse:
			return m.ParseReply(value)
		}
		return nil
	})
	return fault, err
}

// ParseModelName reads the name of the model that a question is about.
func ParseModelName(data []byte) (model string, err error) {
	err = texts(data, func(n protowire.Number, value []byte) error {
		if n == fName {
			model = string(value)
		}
		return nil
	})
	return model, err
}

// ParseReady reads the answer to a question for readiness.
func ParseReady(data []byte) (ready bool, err error) {
	err = fields(data, func(n protowire.Number, kind protowire.Type, _ []byte, value uint64) error {
		if n == fReady && kind == protowire.VarintType {
			ready = value != 0
		}
		return nil
	})
	return ready, err
}

// texts walks the fields of a message that have a length: texts and messages. Others of their numbers are not
// those that are known.
func texts(data []byte, yield func(n protowire.Number, value []byte) error) error {
	return fields(data, func(n protowire.Number, kind protowire.Type, value []byte, _ uint64) error {
		if kind != protowire.BytesType {
			return nil
		}
		return yield(n, value)
	})
}

// fields walks the fields of a message: value is that of a field with a length, number that of any other.
func fields(data []byte, yield func(n protowire.Number, kind protowire.Type, value []byte, number uint64) error) error {
	for len(data) > 0 {
		n, kind, size := protowire.ConsumeTag(data)
		if size < 0 {
			return broken("a tag cannot be read")
		}
		data = data[size:]
		var value []byte
		var number uint64
		switch kind {
		case protowire.BytesType:
			value, size = protowire.ConsumeBytes(data)
		case protowire.VarintType:
			number, size = protowire.ConsumeVarint(data)
		case protowire.Fixed32Type:
			var x uint32
			x, size = protowire.ConsumeFixed32(data)
			number = uint64(x)
		case protowire.Fixed64Type:
			number, size = protowire.ConsumeFixed64(data)
		default:
			size = protowire.ConsumeFieldValue(n, kind, data)
		}
		if size < 0 {
			return broken("field " + strconv.Itoa(int(n)) + " cannot be read")
		}
		data = data[size:]
		if err := yield(n, kind, value, number); err != nil {
			return err
		}
	}
	return nil
}

// parse reads a request or a response; raws and asked are the numbers of the fields in which the two differ. It goes
// over the data a second time only if there are raw contents: these are matched to the tensors by their order, and may
// stand before them.
func (m *Message) parse(data []byte, raws, asked protowire.Number) error {
	m.reset()
	raw := 0
	err := texts(data, func(n protowire.Number, value []byte) error {
		switch n {
		case fModel:
			m.Model = value
		case fVersion:
			m.Version = value
		case fID:
			m.ID = value
		case fParameters:
			return m.parameter(value)
		case fTensors:
			return m.next().parse(value)
		case raws:
			// They may precede the tensors that they belong to: the number of each says which.
			raw++
		case asked:
			return texts(value, func(n protowire.Number, value []byte) error {
				if n == fName {
					m.Asked = append(m.Asked, value)
				}
				return nil
			})
		}
		return nil
	})
	if err != nil || raw == 0 {
		return err
	}
	if raw != len(m.Tensors) {
		return broken(strconv.Itoa(raw) + " raw contents for " + strconv.Itoa(len(m.Tensors)) + " tensors")
	}
	at := 0
	return texts(data, func(n protowire.Number, value []byte) error {
		if n == raws {
			m.Tensors[at].Raw = value
			at++
		}
		return nil
	})
}

// next makes room for one more tensor, with the room of one before.
func (m *Message) next() *Tensor {
	if n := len(m.Tensors); n < cap(m.Tensors) {
		m.Tensors = m.Tensors[:n+1]
		m.Tensors[n] = m.Tensors[n].emptied()
	} else {
		m.Tensors = append(m.Tensors, Tensor{})
	}
	return &m.Tensors[len(m.Tensors)-1]
}

func (t *Tensor) parse(data []byte) error {
	return fields(data, func(n protowire.Number, kind protowire.Type, value []byte, number uint64) error {
		packed := kind == protowire.BytesType
		switch {
		case n == fName && packed:
			t.Name = value
		case n == fDatatype && packed:
			t.Datatype = value
		case n == fShape && packed:
			return varints(value, func(d uint64) { t.Shape = append(t.Shape, int64(d)) })
		case n == fShape && kind == protowire.VarintType:
			t.Shape = append(t.Shape, int64(number))
		case n == fContents && packed:
			return t.contents(value)
		}
		return nil
	})
}

func varints(data []byte, yield func(uint64)) error {
	for len(data) > 0 {
		d, size := protowire.ConsumeVarint(data)
		if size < 0 {
			return broken("a number cannot be read")
		}
		yield(d)
		data = data[size:]
	}
	return nil
}

// contents reads lists of numbers, packed or one by one, and texts.
func (t *Tensor) contents(data []byte) error {
	return fields(data, func(n protowire.Number, kind protowire.Type, value []byte, number uint64) error {
		packed := kind == protowire.BytesType
		switch {
		case n == fBytesContents && packed:
			t.Texts = append(t.Texts, value)
		case n == fFP32Contents && packed && len(value)%4 == 0:
			for ; len(value) > 0; value = value[4:] {
				t.Numbers = append(t.Numbers, float64(math.Float32frombits(binary.LittleEndian.Uint32(value))))
			}
		case n == fFP32Contents && kind == protowire.Fixed32Type:
			t.Numbers = append(t.Numbers, float64(math.Float32frombits(uint32(number))))
		case n == fFP64Contents && packed && len(value)%8 == 0:
			for ; len(value) > 0; value = value[8:] {
				t.Numbers = append(t.Numbers, math.Float64frombits(binary.LittleEndian.Uint64(value)))
			}
		case n == fFP64Contents && kind == protowire.Fixed64Type:
			t.Numbers = append(t.Numbers, math.Float64frombits(number))
		case n == fFP32Contents || n == fFP64Contents:
			return broken("the numbers of a tensor are cut")
		case n > fBytesContents:
		case packed:
			return varints(value, func(d uint64) { t.number(n, d) })
		case kind == protowire.VarintType:
			t.number(n, number)
		}
		return nil
	})
}

// number takes an integer of a list.
func (t *Tensor) number(list protowire.Number, x uint64) {
	if list == fUint64Contents {
		t.Numbers = append(t.Numbers, float64(x))
		return
	}
	t.Numbers = append(t.Numbers, float64(int64(x)))
}

func (m *Message) parameter(entry []byte) error {
	var p Parameter
	err := texts(entry, func(n protowire.Number, value []byte) error {
		switch n {
		case 1:
			p.Name = string(value)
		case 2:
			return fields(value, func(n protowire.Number, _ protowire.Type, value []byte, number uint64) error {
				p.Value = appendJSONParameter(nil, n, value, number)
				return nil
			})
		}
		return nil
	})
	if p.Value == nil {
		p.Value = []byte("null")
	}
	m.Parameters = append(m.Parameters, p)
	return err
}

func appendJSONParameter(dst []byte, n protowire.Number, value []byte, number uint64) []byte {
	switch n {
	case fBoolParam:
		return strconv.AppendBool(dst, number != 0)
	case fInt64Param:
		return strconv.AppendInt(dst, int64(number), 10)
	case fUint64Param:
		return strconv.AppendUint(dst, number, 10)
	case fDoubleParam:
		x := math.Float64frombits(number)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return append(dst, "null"...)
		}
		b, _ := json.Marshal(x) // cannot fail for such a number
		return append(dst, b...)
	case fStringParam:
		return appendQuoted(dst, value)
	}
	return append(dst, "null"...)
}

// appendQuoted writes a JSON string; bytes that are not text are replaced.
func appendQuoted(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch c := text[0]; {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, "\uFFFD"...)
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, text[:size]...)
		}
		text = text[size:]
	}
	return append(dst, '"')
}

// unquote is the text of a JSON string; any other value is its own text.
func unquote(value string) string {
	var text string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal([]byte(value), &text) == nil {
		return text
	}
	return value
}
