package load

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// pieceKind is the type of a piece.
type pieceKind uint8

const (
	normal      pieceKind = 1
	unknown     pieceKind = 2
	control     pieceKind = 3
	userDefined pieceKind = 4
	unused      pieceKind = 5
	byteKind    pieceKind = 6
)

// The types of models.
const (
	unigramModel = 1
	bpeModel     = 2
	wordModel    = 3
	charModel    = 4
)

type piece struct {
	text  string
	score float32
	kind  pieceKind
}

// pieceModel is what is read of a model file.
type pieceModel struct {
	pieces   []piece
	charsmap []byte

	ModelType                uint64
	WhitespaceSuffix         bool
	AllowWhitespaceOnly      bool
	ByteFallback             bool
	Unk, BOS, EOS            int
	UnkSurface               string
	DummyPrefix, RemoveExtra bool
	EscapeWhitespace         bool
	Denormalizes             bool
}

// readPieceModel reads a ModelProto. Fields that do not bear on the ids are skipped.
func readPieceModel(data []byte) (*pieceModel, error) {
	p := &pieceModel{ModelType: unigramModel, Unk: 0, BOS: 1, EOS: 2, UnkSurface: " \u2047 ", DummyPrefix: true,
		RemoveExtra: true, EscapeWhitespace: true}
	err := protoFields(data, func(number, _ uint64, value []byte) error {
		switch number {
		case 1:
			one := piece{kind: normal}
			err := protoFields(value, func(number, n uint64, value []byte) error {
				switch number {
				case 1:
					one.text = string(value)
				case 2:
					one.score = math.Float32frombits(uint32(n))
				case 3:
					one.kind = pieceKind(n)
				}
				return nil
			})
			if !utf8.ValidString(one.text) {
				return fmt.Errorf("piece %d is not UTF-8", len(p.pieces))
			}
			p.pieces = append(p.pieces, one)
			return err
		case 2:
			return p.trainer(value)
		case 3:
			return p.normalizer(value)
		case 5:
			return protoFields(value, func(number, _ uint64, value []byte) error {
				p.Denormalizes = p.Denormalizes || number == 2 && len(value) > 0
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("it is not a SentencePiece model: %w", err)
	}
	if len(p.pieces) == 0 {
		return nil, errors.New("it is not a SentencePiece model: it has no pieces")
	}
	return p, nil
}

// trainer reads SentencePiece's TrainerSpec; the numbers are those of its fields.
func (p *pieceModel) trainer(data []byte) error {
	return protoFields(data, func(number, n uint64, value []byte) error {
		switch number {
		case 3:
			p.ModelType = n
		case 24:
			p.WhitespaceSuffix = n != 0
		case 26:
			p.AllowWhitespaceOnly = n != 0
		case 35:
			p.ByteFallback = n != 0
		case 40:
			p.Unk = int(int32(n))
		case 41:
			p.BOS = int(int32(n))
		case 42:
			p.EOS = int(int32(n))
		case 44:
			p.UnkSurface = string(value)
		}
		return nil
	})
}

func (p *pieceModel) normalizer(data []byte) error {
	return protoFields(data, func(number, n uint64, value []byte) error {
		switch number {
		case 2:
			p.charsmap = value
		case 3:
			p.DummyPrefix = n != 0
		case 4:
			p.RemoveExtra = n != 0
		case 5:
			p.EscapeWhitespace = n != 0
		}
		return nil
	})
}

var errFieldCut = errors.New("a field is truncated")

// protoFields walks over the fields of a message: n is the value of a number, value that of the others.
func protoFields(data []byte, field func(number, n uint64, value []byte) error) error {
	for len(data) > 0 {
		tag, size := binary.Uvarint(data)
		if size <= 0 {
			return errFieldCut
		}
		data = data[size:]
		var n uint64
		var value []byte
		switch tag & 7 {
		case 0:
			if n, size = binary.Uvarint(data); size <= 0 {
				return errFieldCut
			}
		case 1:
			if size = 8; len(data) < size {
				return errFieldCut
			}
			n = binary.LittleEndian.Uint64(data)
		case 2:
			length, head := binary.Uvarint(data)
			if head <= 0 || length > uint64(len(data)-head) {
				return errFieldCut
			}
			size = head + int(length)
			value = data[head:size]
		case 5:
			if size = 4; len(data) < size {
				return errFieldCut
			}
			n = uint64(binary.LittleEndian.Uint32(data))
		default:
			return fmt.Errorf("a field has the unknown wire type %d", tag&7)
		}
		data = data[size:]
		if err := field(tag>>3, n, value); err != nil {
			return err
		}
	}
	return nil
}
