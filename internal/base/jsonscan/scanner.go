package jsonscan

import "iter"

// Scanner reads a text from left to right and keeps the first fault: from then on there are no more members, elements
// and values.
type Scanner struct {
	Text []byte
	// At is the position in Text; once something is wrong it is negative, see [FaultOf].
	At int
	// Depth is the number of objects and arrays around At, or more to lower the bound of [MaxDepth].
	Depth int
}

// Peek returns the first byte of what comes next, 0 at the end and after a fault.
func (s *Scanner) Peek() byte {
	if s.At >= 0 {
		if s.At = Space(s.Text, s.At); s.At < len(s.Text) {
			return s.Text[s.At]
		}
	}
	return 0
}

// Members enters an object and walks over its keys. The body of the loop must read the value; it may leave the loop
// only to give up the text.
func (s *Scanner) Members() iter.Seq[[]byte] {
	return func(yield func(key []byte) bool) {
		for more := s.enter('{', '}', WantObject); more; more = s.leave('}') {
			var key []byte
			if key, s.At = Key(s.Text, s.At); s.At < 0 || !yield(key) {
				return
			}
		}
	}
}

// Elements does what [Scanner.Members] does for an array, whose elements the body of the loop reads.
func (s *Scanner) Elements() func(yield func() bool) {
	return func(yield func() bool) {
		for more := s.enter('[', ']', WantArray); more && yield(); {
			more = s.leave(']')
		}
	}
}

func (s *Scanner) enter(begin, end byte, otherwise Fault) (more bool) {
	if s.Peek() != begin {
		s.Fail(otherwise)
		return false
	}
	s.At, more = Open(s.Text, s.At, end, s.Depth+1)
	if more {
		s.Depth++
	}
	return more
}

// leave goes from an element to the next one, or out of what holds them.
func (s *Scanner) leave(end byte) (more bool) {
	if s.At >= 0 {
		if s.At, more = Next(s.Text, s.At, end); !more {
			s.Depth--
		}
	}
	return more
}

// Value reads a value of any kind and returns it raw, nil after a fault.
func (s *Scanner) Value() []byte {
	s.Peek()
	if s.At < 0 {
		return nil
	}
	start := s.At
	if s.At = Value(s.Text, start, s.Depth); s.At < 0 {
		return nil
	}
	return s.Text[start:s.At]
}

// Int reads a whole number, see [Int].
func (s *Scanner) Int() (n int64) {
	s.Peek()
	if s.At >= 0 {
		n, s.At = Int(s.Text, s.At)
	}
	return n
}

// End fails where anything but white space follows.
func (s *Scanner) End() {
	if s.At >= 0 {
		s.At = End(s.Text, s.At)
	}
}

// Fail makes what comes next a fault, unless there was one before.
func (s *Scanner) Fail(f Fault) {
	if s.At >= 0 {
		s.At = f.at(s.At)
	}
}
