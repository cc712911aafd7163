package chart

import (
	"image"
	"math"
)

// steps is how many places within a pixel a marker may have, each way.
const steps = 4

// stamp is a marker as the coverage of pixels around its place, for each place within a pixel.
type stamp [steps * steps]*image.RGBA

// draw stamps the marker at each place: scatter plots have thousands of them.
func (i markerItem) draw(r *raster) {
	radius := i.size / 2 * r.scale
	line := 0.0
	if i.paint.Stroke.A > 0 {
		line = i.paint.Width * r.scale
	}
	reach := int(math.Ceil(radius*1.5+line)) + 1
	var made stamp
	for _, at := range i.at {
		x, y := at.X*r.scale, at.Y*r.scale
		if !(math.Abs(x) < 1e6 && math.Abs(y) < 1e6) {
			continue
		}
		fx, fy := int(math.Floor(x*steps+0.5)), int(math.Floor(y*steps+0.5))
		px, py := floorDiv(fx), floorDiv(fy)
		k := (fy-py*steps)*steps + fx - px*steps
		if made[k] == nil {
			made[k] = i.stamp(reach, float64(fx-px*steps)/steps, float64(fy-py*steps)/steps, radius, line)
		}
		r.blend(made[k], px-reach, py-reach)
	}
}

func floorDiv(v int) int { return int(math.Floor(float64(v) / steps)) }

// stamp draws the marker once, on nothing.
func (i markerItem) stamp(reach int, x, y, radius, line float64) *image.RGBA {
	side := 2*reach + 1
	r := &raster{RGBA: image.NewRGBA(image.Rect(0, 0, side, side)), scale: 1}
	r.clip = r.Bounds()
	r.paint(shapePath(i.shape, float64(reach)+x, float64(reach)+y, radius), Paint{
		Fill: i.paint.Fill, Stroke: i.paint.Stroke, Width: line,
	})
	return r.RGBA
}

// blend puts a stamp over the picture.
func (r *raster) blend(from *image.RGBA, left, top int) {
	box := from.Bounds().Add(image.Point{left, top}).Intersect(r.clip)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		source := from.Pix[(y-top)*from.Stride+(box.Min.X-left)*4:]
		target := r.Pix[r.PixOffset(box.Min.X, y):]
		for n := 0; n < box.Dx()*4; n += 4 {
			switch a := uint32(source[n+3]); a {
			case 0:
			case 0xff:
				copy(target[n:n+4], source[n:n+4])
			default:
				for c := range 4 {
					target[n+c] = uint8(uint32(source[n+c]) + (uint32(target[n+c])*(255-a)+127)/255)
				}
			}
		}
	}
}
