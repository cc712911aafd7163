package main

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// packVocabulary turns a .tiktoken rank file, one base64 token and its rank a line, into the compact form that the
// tokenizer package embeds.
//
// The form: the number of tokens as four bytes, little-endian; one byte for the length of each token in the order of the
// ranks, which start at 0 and leave no gap; then the bytes of all tokens. A name that ends with .z is written compressed
// (deflate).
func packVocabulary(to, from string) error {
	tokens, err := readRanks(from)
	if err != nil {
		return err
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(tokens)))
	for rank, token := range tokens {
		if len(token) == 0 || len(token) > 255 {
			return fmt.Errorf("%s: the token of rank %d has %d bytes, 1 to 255 can be packed", from, rank, len(token))
		}
		out = append(out, byte(len(token)))
	}
	out = append(out, bytes.Join(tokens, nil)...)
	if strings.HasSuffix(to, ".z") {
		out = deflate(out)
	}
	return os.WriteFile(to, out, 0o644)
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression) // the level is valid
	w.Write(data)                                      // a buffer takes all
	w.Close()
	return b.Bytes()
}

// readRanks returns the tokens by rank.
func readRanks(path string) ([][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var tokens [][]byte
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		fields := bytes.Fields(lines.Bytes())
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("%s:%d: expected a token and its rank", path, n)
		}
		token, err := base64.StdEncoding.AppendDecode(nil, fields[0])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		rank, err := strconv.Atoi(string(fields[1]))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if rank != len(tokens) {
			return nil, fmt.Errorf("%s:%d: rank %d follows %d, the ranks must be in order and without gaps", path, n,
				rank, len(tokens)-1)
		}
		tokens = append(tokens, token)
	}
	return tokens, lines.Err()
}
