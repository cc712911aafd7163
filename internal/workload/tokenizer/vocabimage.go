package tokenizer

import (
	"fmt"
	"math/bits"
)

// rest is what a packed table holds in addition to its arrays.
type rest struct {
	Empty   int32            `json:"empty"`
	Longest int              `json:"longest"`
	More    map[string]int32 `json:"more,omitempty"`
}

// Save adds the table to a packed file. Its sections start with the name, which has at most ten bytes.
func (v *Vocab) Save(w *TableWriter, name string) error {
	if err := w.JSON(name+".rest", rest{v.empty, v.longest, v.more}); err != nil {
		return err
	}
	w.Bytes(name+".text", []byte(v.blob))
	WriteNumbers(w, name+".ends", v.ends)
	WriteNumbers(w, name+".slots", v.slots)
	return nil
}

// LoadVocab takes a table out of a packed file. What it says of ids below Len holds for any file; whether the tokens are
// found is up to the file.
func LoadVocab(f *TableFile, name string) (*Vocab, error) {
	wrong := func(what string) error { return fmt.Errorf("the table %q of the packed file is wrong: %s", name, what) }
	var r rest
	err := f.JSON(name+".rest", &r)
	if err != nil {
		return nil, err
	}
	v := &Vocab{empty: r.Empty, longest: r.Longest, more: r.More}
	if v.blob, err = f.Text(name + ".text"); err != nil {
		return nil, err
	}
	if v.ends, err = Numbers[uint32](f, name+".ends"); err != nil {
		return nil, err
	}
	if v.slots, err = Numbers[uint32](f, name+".slots"); err != nil {
		return nil, err
	}
	n := len(v.ends) - 1
	if n < 0 || v.ends[0] != 0 || int(v.ends[n]) != len(v.blob) {
		return nil, wrong("the lengths of its tokens do not fit")
	}
	before := uint32(0)
	for _, end := range v.ends {
		if end < before {
			return nil, wrong("the lengths of its tokens do not fit")
		}
		before = end
	}
	log := bits.Len(uint(2*n + 1))
	if len(v.slots) != 1<<log {
		return nil, wrong("its number of slots does not fit")
	}
	v.shift, v.mask = 64-uint(log), 1<<bits.Len(uint(n))-1
	free, largest := 0, uint32(0)
	for _, slot := range v.slots {
		if slot == 0 {
			free++
		}
		largest = max(largest, slot&v.mask)
		if slot != 0 && slot&v.mask == 0 {
			return nil, wrong("a slot has no token")
		}
	}
	if free == 0 || int(largest) > n || v.empty < none || int(v.empty) >= n {
		return nil, wrong("a slot is outside of it")
	}
	for _, id := range v.more {
		if id < 0 || int(id) >= n {
			return nil, wrong("a slot is outside of it")
		}
	}
	return v, nil
}
