package chart

// box is a rectangle that is taken.
type box struct{ x0, y0, x1, y1 float64 }

func around(at Point, r float64) box { return box{at.X - r, at.Y - r, at.X + r, at.Y + r} }

func (a box) meets(b box) bool { return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1 }

// pointLabel is a text beside a point.
type pointLabel struct {
	at     Point
	text   string
	radius float64
}

// maxLabels bounds the labels: more could not be read.
const maxLabels = 300

// labels writes the labels of points, each on the first side where it covers no marker and no other label; one that
// fits nowhere is left out.
func (p *painter) labels() {
	u := p.unit
	font := p.font(labelSize - 3)
	var taken []box
	for n, l := range p.names {
		if n >= maxLabels {
			break
		}
		text := font.Fit(l.text, (p.right-p.left)/4)
		w, h := font.Measure(text), 17*u
		gap := l.radius + 5*u
		for _, side := range [...][2]float64{{0, -1}, {1, 0}, {0, 1}, {-1, 0}, {1, -1}, {-1, -1}, {1, 1}, {-1, 1}} {
			near := gap
			if side[0] != 0 && side[1] != 0 {
				near *= 0.7
			}
			middle := Point{X: l.at.X + side[0]*(near+w/2), Y: l.at.Y + side[1]*(near+h/2)}
			b := box{middle.X - w/2, middle.Y - h/2, middle.X + w/2, middle.Y + h/2}
			if b.x0 < p.left || b.x1 > p.right || b.y0 < p.top || b.y1 > p.bottom || p.meets(b, taken) {
				continue
			}
			taken = append(taken, b)
			p.Rect(b.x0-1, b.y0, w+2, h, 3*u, Paint{Fill: Opacity(p.colours.plot, 0.7)})
			p.Text(b.x0, b.y1-3.5*u, text, font)
			break
		}
	}
}

func (p *painter) meets(b box, taken []box) bool {
	for _, list := range [...][]box{taken, p.marks} {
		for _, other := range list {
			if b.meets(other) {
				return true
			}
		}
	}
	return false
}
