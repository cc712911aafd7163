package task

import "math/bits"

const size, middle = 624, 397

// MersenneTwister is the generator of Python's random module. It is not safe for concurrent use.
type MersenneTwister struct {
	state [size]uint32
	next  int
}

// NewMersenneTwister returns the generator of a seed, as random.Random(seed) makes it of a non-negative integer.
func NewMersenneTwister(seed uint64) *MersenneTwister {
	key := []uint32{uint32(seed)}
	if seed>>32 != 0 {
		key = append(key, uint32(seed>>32))
	}
	r := &MersenneTwister{next: size}
	s := &r.state
	s[0] = 19650218
	for i := 1; i < size; i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	i, j := 1, 0
	step := func() {
		if i++; i >= size {
			s[0], i = s[size-1], 1
		}
	}
	for range max(size, len(key)) {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + key[j] + uint32(j)
		step()
		j = (j + 1) % len(key)
	}
	for range size - 1 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		step()
	}
	s[0] = 1 << 31
	return r
}

// uint32 returns the next number of MT19937 (Matsumoto and Nishimura, 1998): the state is renewed every 624 numbers,
// and each is tempered.
func (r *MersenneTwister) uint32() uint32 {
	s := &r.state
	if r.next >= size {
		for i := range size {
			y := s[i]&(1<<31) | s[(i+1)%size]&(1<<31-1)
			v := s[(i+middle)%size] ^ y>>1
			if y&1 != 0 {
				v ^= 0x9908b0df
			}
			s[i] = v
		}
		r.next = 0
	}
	y := s[r.next]
	r.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// IntN returns a draw from 0 to n-1, as randrange(n) does. n is from 1 to 2^31.
func (r *MersenneTwister) IntN(n int) int {
	k := bits.Len32(uint32(n))
	for {
		if v := r.uint32() >> (32 - k); v < uint32(n) {
			return int(v)
		}
	}
}

// Shuffle orders n things anew, as shuffle does.
func (r *MersenneTwister) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, r.IntN(i+1))
	}
}
