package chart

import "math"

// Path is a chain of lines and curves; its methods return it.
type Path struct{ segments []segment }

// segment is a step of a path: op is one of M, L, Q, C and Z, and the points are those of the curve.
type segment struct {
	op   byte
	a, b Point // control points
	to   Point
}

// Move begins a new part at a place.
func (p *Path) Move(x, y float64) *Path { return p.add(segment{op: 'M', to: Point{x, y}}) }

// Line goes straight to a place.
func (p *Path) Line(x, y float64) *Path { return p.add(segment{op: 'L', to: Point{x, y}}) }

// Quad goes to a place in a quadratic curve.
func (p *Path) Quad(ax, ay, x, y float64) *Path {
	return p.add(segment{op: 'Q', a: Point{ax, ay}, to: Point{x, y}})
}

// Cubic goes to a place in a cubic curve.
func (p *Path) Cubic(ax, ay, bx, by, x, y float64) *Path {
	return p.add(segment{op: 'C', a: Point{ax, ay}, b: Point{bx, by}, to: Point{x, y}})
}

// Close goes straight back to where the part began.
func (p *Path) Close() *Path { return p.add(segment{op: 'Z'}) }

func (p *Path) add(s segment) *Path {
	p.segments = append(p.segments, s)
	return p
}

// Ellipse adds an ellipse.
func (p *Path) Ellipse(x, y, rx, ry float64) *Path {
	const k = 0.5522847498 // of a quarter of a circle
	return p.Move(x+rx, y).Cubic(x+rx, y+k*ry, x+k*rx, y+ry, x, y+ry).Cubic(x-k*rx, y+ry, x-rx, y+k*ry, x-rx, y).
		Cubic(x-rx, y-k*ry, x-k*rx, y-ry, x, y-ry).Cubic(x+k*rx, y-ry, x+rx, y-k*ry, x+rx, y).Close()
}

func rounded(x, y, w, h, r float64) *Path {
	if r = min(r, w/2, h/2); r <= 0 {
		return new(Path).Move(x, y).Line(x+w, y).Line(x+w, y+h).Line(x, y+h).Close()
	}
	const k = 1 - 0.5522847498
	return new(Path).Move(x+r, y).Line(x+w-r, y).Cubic(x+w-k*r, y, x+w, y+k*r, x+w, y+r).
		Line(x+w, y+h-r).Cubic(x+w, y+h-k*r, x+w-k*r, y+h, x+w-r, y+h).
		Line(x+r, y+h).Cubic(x+k*r, y+h, x, y+h-k*r, x, y+h-r).
		Line(x, y+r).Cubic(x, y+k*r, x+k*r, y, x+r, y).Close()
}

// shapePath is a marker of diameter 2r around a place. The areas of the shapes look alike.
func shapePath(shape Shape, x, y, r float64) *Path {
	p := new(Path)
	polygon := func(points ...Point) *Path {
		for i, q := range points {
			if i == 0 {
				p.Move(x+q.X*r, y+q.Y*r)
			} else {
				p.Line(x+q.X*r, y+q.Y*r)
			}
		}
		return p.Close()
	}
	const t = 0.38 // half the thickness of a cross
	switch shape {
	case Square:
		return polygon(Point{-.88, -.88}, Point{.88, -.88}, Point{.88, .88}, Point{-.88, .88})
	case Triangle:
		return polygon(Point{0, -1.2}, Point{1.14, .8}, Point{-1.14, .8})
	case Down:
		return polygon(Point{-1.14, -.8}, Point{1.14, -.8}, Point{0, 1.2})
	case Diamond:
		return polygon(Point{0, -1.25}, Point{1.25, 0}, Point{0, 1.25}, Point{-1.25, 0})
	case Plus, Cross:
		points := []Point{{-t, -1.15}, {t, -1.15}, {t, -t}, {1.15, -t}, {1.15, t}, {t, t}, {t, 1.15}, {-t, 1.15}, {-t, t},
			{-1.15, t}, {-1.15, -t}, {-t, -t}}
		if shape == Cross {
			for i, q := range points {
				points[i] = Point{(q.X - q.Y) * math.Sqrt2 / 2, (q.X + q.Y) * math.Sqrt2 / 2}
			}
		}
		return polygon(points...)
	case Star:
		var points []Point
		for i := range 10 {
			sin, cos := math.Sincos(float64(i) * math.Pi / 5)
			out := 1.35
			if i%2 == 1 {
				out = 0.6
			}
			points = append(points, Point{out * sin, -out * cos})
		}
		return polygon(points...)
	}
	return p.Ellipse(x, y, r, r)
}

// lines returns the parts of the path as chains of points, scaled, with curves as lines of less than a pixel's error,
// and whether each part is closed.
func (p *Path) lines(scale float64) (parts [][]Point, closed []bool) {
	var part []Point
	var now, start Point
	end := func(isClosed bool) {
		if len(part) > 0 {
			parts, closed = append(parts, part), append(closed, isClosed)
		}
		part = nil
	}
	to := func(q Point) { part = append(part, Point{q.X * scale, q.Y * scale}) }
	for _, s := range p.segments {
		if s.op != 'M' && s.op != 'Z' && part == nil {
			to(now)
		}
		switch s.op {
		case 'M':
			end(false)
			start = s.to
			to(s.to)
		case 'L':
			to(s.to)
		case 'Q', 'C':
			a, b := s.a, s.b
			if s.op == 'Q' {
				a, b = mix(now, s.a, 2./3), mix(s.to, s.a, 2./3)
			}
			length := (math.Hypot(a.X-now.X, a.Y-now.Y) + math.Hypot(b.X-a.X, b.Y-a.Y) + math.Hypot(s.to.X-b.X, s.to.Y-b.Y)) * scale
			n := min(max(int(math.Sqrt(length)*1.4), 3), 100)
			for i := 1; i <= n; i++ {
				t := float64(i) / float64(n)
				u := 1 - t
				to(Point{
					u*u*u*now.X + 3*u*u*t*a.X + 3*u*t*t*b.X + t*t*t*s.to.X,
					u*u*u*now.Y + 3*u*u*t*a.Y + 3*u*t*t*b.Y + t*t*t*s.to.Y,
				})
			}
		case 'Z':
			end(true)
			now = start
			continue
		}
		now = s.to
	}
	end(false)
	return parts, closed
}

func mix(a, b Point, t float64) Point { return Point{a.X + (b.X-a.X)*t, a.Y + (b.Y-a.Y)*t} }
