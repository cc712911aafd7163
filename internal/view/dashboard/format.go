package dashboard

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
)

// elapsed returns a length of time as 12.3s below a minute, else as 1d 2h 3m 4s without the parts that are 0.
func elapsed(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return parts(d, 4)
}

// remaining returns the time to an end, in its two largest parts: 12.3s, 5m, 5m 7s, 2h 5m, 3d 4h.
func remaining(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", max(0, d.Seconds()))
	}
	return parts(d, 2)
}

// parts returns the first parts of a length of time from the largest that is not 0, without those that are 0.
func parts(d time.Duration, most int) string {
	seconds := int64(d.Round(time.Second) / time.Second)
	var list []string
	n := 0
	for _, p := range [...]struct {
		length int64
		unit   string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}} {
		v := seconds / p.length
		seconds %= p.length
		if n > 0 || v > 0 {
			n++
		}
		if v > 0 && n <= most {
			list = append(list, strconv.FormatInt(v, 10)+p.unit)
		}
	}
	return strings.Join(list, " ")
}

// bytesText returns a size: 512 B below 1000, else in powers of 1024, with a decimal below 100 units.
func bytesText(n float64) string {
	if n < 1000 {
		return fmt.Sprintf("%.0f B", n)
	}
	units := [...]string{"KB", "MB", "GB", "TB", "PB"}
	i := -1
	for (n >= 1000 || i < 0) && i < len(units)-1 {
		n /= 1024
		i++
	}
	if n < 100 {
		return fmt.Sprintf("%.1f %s", n, units[i])
	}
	return fmt.Sprintf("%.0f %s", n, units[i])
}

// count returns a whole number with separated thousands.
func count(n int64) string { return artifact.GroupThousands(strconv.FormatInt(n, 10)) }

// notAvailable stands for a value that is not there.
const notAvailable = "N/A"

// cents returns a number with two decimals and separated thousands.
func cents(v float64) string {
	if !artifact.Finite(v) {
		return notAvailable
	}
	return grouped(v, 2)
}

// grouped returns a number with so many decimals and separated thousands.
func grouped(v float64, decimals int) string {
	whole, rest, _ := strings.Cut(strconv.FormatFloat(v, 'f', decimals, 64), ".")
	return artifact.GroupThousands(whole) + "." + rest
}

// scientific is cents, but for numbers from a million on.
func scientific(v float64) string {
	if artifact.Finite(v) && math.Abs(v) >= 1e6 {
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	return cents(v)
}

// oneDecimal returns a number with one decimal and separated thousands.
func oneDecimal(v float64) string { return grouped(v, 1) }

// short returns a number in three significant digits, large ones with k, M and G.
func short(v float64) string {
	if !artifact.Finite(v) {
		return "–"
	}
	for _, u := range [...]struct {
		from float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if math.Abs(v) >= u.from {
			if u.from == 1e4 {
				return digits(v/1e3) + u.name
			}
			return digits(v/u.from) + u.name
		}
	}
	return digits(v)
}

func digits(v float64) string {
	switch a := math.Abs(v); {
	case v == math.Trunc(v) && a < 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 100:
		return artifact.GroupThousands(strconv.FormatFloat(v, 'f', 0, 64))
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

// milliseconds returns a time in a fitting unit.
func milliseconds(ms float64) string {
	switch {
	case !artifact.Finite(ms):
		return "–"
	case ms >= 10_000:
		return digits(ms/1e3) + " s"
	}
	return digits(ms) + " ms"
}

// percent returns a share in percent as the original prints it.
func percent(share float64) string {
	v := 100 * min(max(share, 0), 1)
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64) + "%"
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + "%"
}

// sparks are the heights of a sparkline.
const sparks = "▁▂▃▄▅▆▇█"

var sparkRunes = []rune(sparks)

// sparkline draws the newest values in so many columns and rows, from 0 on. A constant is drawn at half the height, since
// a full one would read as 100 %: the scale ends above the largest value, the more the less the values differ. A value that
// is not known is a gap.
func sparkline(values []float64, columns, rows int) []string {
	columns, rows = max(columns, 0), max(rows, 1)
	if len(values) > columns {
		values = values[len(values)-columns:]
	}
	least, top := math.Inf(1), 0.0
	for _, v := range values {
		if artifact.Finite(v) {
			least, top = min(least, v), max(top, v)
		}
	}
	if top > 0 {
		top += max(least, 0) * max(least, 0) / top
	}
	lines := make([]string, rows)
	for r := range rows {
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", columns-len(values)))
		for _, v := range values {
			if !artifact.Finite(v) {
				b.WriteByte(' ')
				continue
			}
			level := 1
			if top > 0 {
				level = max(1, int(math.Round(v/top*float64(rows*len(sparkRunes)))))
			}
			own := level - (rows-1-r)*len(sparkRunes)
			if own <= 0 {
				b.WriteByte(' ')
			} else {
				b.WriteRune(sparkRunes[min(own, len(sparkRunes))-1])
			}
		}
		lines[r] = b.String()
	}
	return lines
}

// bar draws a share as a bar.
func bar(share float64, columns int) string {
	share = min(max(share, 0), 1)
	eighths := int(math.Round(share * float64(columns) * 8))
	full := eighths / 8
	text := strings.Repeat("█", full)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
		full++
	}
	return text + strings.Repeat("░", max(0, columns-full))
}
