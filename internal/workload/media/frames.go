package media

import (
	"math"

	"aiperf/internal/base/random"
)

// What videos show.
const (
	MovingShapes = "moving_shapes"
	GridClock    = "grid_clock"
	NoiseVideo   = "noise"
)

// canvas is one frame of a video, three bytes a pixel.
type canvas struct {
	w, h int
	pix  []byte
}

type colour [3]byte

func (c *canvas) fill(with colour) {
	for i := 0; i < len(c.pix); i += 3 {
		copy(c.pix[i:], with[:])
	}
}

func (c *canvas) set(x, y int, with colour) {
	if x >= 0 && y >= 0 && x < c.w && y < c.h {
		copy(c.pix[(y*c.w+x)*3:], with[:])
	}
}

// disc and square draw around a centre; what leaves the canvas on one side comes back on the other.
func (c *canvas) disc(cx, cy, radius int, with colour) {
	for dy := -radius; dy <= radius; dy++ {
		for dx := -radius; dx <= radius; dx++ {
			if dx*dx+dy*dy <= radius*radius {
				c.set(wrap(cx+dx, c.w), wrap(cy+dy, c.h), with)
			}
		}
	}
}

func (c *canvas) square(cx, cy, side int, with colour) {
	for y := cy - side/2; y < cy-side/2+side; y++ {
		for x := cx - side/2; x < cx-side/2+side; x++ {
			c.set(wrap(x, c.w), wrap(y, c.h), with)
		}
	}
}

func wrap(x, n int) int { return (x%n + n) % n }

// stroke draws a straight line.
func (c *canvas) stroke(x0, y0, x1, y1 float64, with colour) {
	steps := int(max(math.Abs(x1-x0), math.Abs(y1-y0))) + 1
	for i := range steps + 1 {
		t := float64(i) / float64(steps)
		c.set(int(math.Round(x0+(x1-x0)*t)), int(math.Round(y0+(y1-y0)*t)), with)
	}
}

// paint draws frame i of n.
func (c *canvas) paint(what string, i, n int, r *random.Rand) {
	switch what {
	case GridClock:
		c.clock(i, n)
	case NoiseVideo:
		for at := 0; at < len(c.pix); at += 8 {
			bits := r.Uint64()
			for k := at; k < min(at+8, len(c.pix)); k++ {
				c.pix[k] = byte(bits)
				bits >>= 8
			}
		}
	default:
		c.shapes(i, n)
	}
}

// shapes moves a red disc to the right, a green square down and a blue disc up and to the left.
func (c *canvas) shapes(i, n int) {
	c.fill(colour{})
	c.disc(2*c.w*i/n, c.h/2, 15, colour{255, 0, 0})
	c.square(c.w/2, 2*c.h*i/n, 25, colour{0, 255, 0})
	c.disc(c.w-3*c.w*i/(2*n), c.h-3*c.h*i/(2*n), 10, colour{0, 0, 255})
}

// clock returns a grid, a face whose quick hand turns once in the clip, and the number of the frame.
func (c *canvas) clock(i, n int) {
	c.fill(colour{40, 40, 40})
	for y := range c.h {
		for x := range c.w {
			if x%32 == 0 || y%32 == 0 {
				c.set(x, y, colour{80, 80, 80})
			}
		}
	}
	cx, cy, radius := float64(c.w)/2, float64(c.h)/2, float64(min(c.w, c.h))/4
	white := colour{255, 255, 255}
	for k := range 360 {
		sin, cos := math.Sincos(float64(k) * math.Pi / 180)
		c.set(int(math.Round(cx+radius*sin)), int(math.Round(cy-radius*cos)), white)
	}
	turn := 2 * math.Pi * float64(i) / float64(n)
	hand := func(angle, length float64, with colour) {
		sin, cos := math.Sincos(angle)
		c.stroke(cx, cy, cx+length*sin, cy-length*cos, with)
	}
	hand(turn, radius*0.9, colour{255, 64, 64})
	hand(turn/12, radius*0.6, white)
	c.number(i, 4, 4, white)
}

// digits are five rows of three pixels for each digit, the highest bit on the left.
var digits = [10][5]byte{
	{7, 5, 5, 5, 7}, {2, 6, 2, 2, 7}, {7, 1, 7, 4, 7}, {7, 1, 7, 1, 7}, {5, 5, 7, 1, 1},
	{7, 4, 7, 1, 7}, {7, 4, 7, 5, 7}, {7, 1, 1, 2, 2}, {7, 5, 7, 5, 7}, {7, 5, 7, 1, 7},
}

// number writes n at a place, each of its pixels two wide and high.
func (c *canvas) number(n, x, y int, with colour) {
	if n >= 10 {
		c.number(n/10, x, y, with)
		for m := n / 10; m > 0; m /= 10 {
			x += 8
		}
	}
	for row, bits := range digits[n%10] {
		for column := range 6 {
			if bits>>(2-column/2)&1 == 1 {
				c.set(x+column, y+2*row, with)
				c.set(x+column, y+2*row+1, with)
			}
		}
	}
}
