package metrics

import "fmt"

// Unit is a unit of measurement, spelled as it is exported.
type Unit string

// The units. Sizes are powers of 1024.
const (
	None Unit = ""

	Nanoseconds  Unit = "ns"
	Microseconds Unit = "us"
	Milliseconds Unit = "ms"
	Seconds      Unit = "sec"

	Bytes     Unit = "B"
	Kilobytes Unit = "KB"
	Megabytes Unit = "MB"
	Gigabytes Unit = "GB"
	Terabytes Unit = "TB"

	Tokens   Unit = "tokens"
	Requests Unit = "requests"
	Images   Unit = "images"
	Image    Unit = "image"
	Videos   Unit = "videos"
	Video    Unit = "video"
	Count    Unit = "count"
	Ratio    Unit = "ratio"
	Percent  Unit = "%"

	RequestsPerSecond      Unit = "requests/sec"
	TokensPerSecond        Unit = "tokens/sec"
	TokensPerSecondPerUser Unit = "tokens/sec/user"
	Jobs                   Unit = "jobs"
	JobsPerHour            Unit = "jobs/hour"
	JobsPerHourPerUser     Unit = "jobs/hour/user"
	JobsPerHourPerGPU      Unit = "jobs/hour/gpu"

	ImagesPerSecond        Unit = "images/sec"
	ImagesPerSecondPerUser Unit = "images/sec/user"
	MillisecondsPerImage   Unit = "ms/image"
	MillisecondsPerVideo   Unit = "ms/video"
	BytesPerSecond         Unit = "B/sec"
	KilobytesPerSecond     Unit = "KB/sec"
	MegabytesPerSecond     Unit = "MB/sec"
	GigabytesPerSecond     Unit = "GB/sec"

	Watts       Unit = "W"
	Milliwatts  Unit = "mW"
	Joules      Unit = "J"
	Millijoules Unit = "mJ"
	Megajoules  Unit = "MJ"

	Hertz     Unit = "Hz"
	Megahertz Unit = "MHz"
	Gigahertz Unit = "GHz"

	CurrencyPerMillionTokens    Unit = "currency/1M tokens"
	CurrencyPerThousandRequests Unit = "currency/1k requests"
	TokensPerCurrency           Unit = "tokens/currency"
)

// scale places a unit within its dimension. Units of time and frequency are given as how many make
// one of the base unit, the others as how many base units one of them is: with these numbers each
// ratio is a quotient of two exact floats.
type scale struct {
	dimension string
	perBase   float64
	ofBase    float64
}

var scales = map[Unit]scale{
	Nanoseconds:  {"time", 1e9, 0},
	Microseconds: {"time", 1e6, 0},
	Milliseconds: {"time", 1e3, 0},
	Seconds:      {"time", 1, 0},

	Bytes:     {"size", 0, 1},
	Kilobytes: {"size", 0, 1 << 10},
	Megabytes: {"size", 0, 1 << 20},
	Gigabytes: {"size", 0, 1 << 30},
	Terabytes: {"size", 0, 1 << 40},

	BytesPerSecond:     {"data rate", 0, 1},
	KilobytesPerSecond: {"data rate", 0, 1 << 10},
	MegabytesPerSecond: {"data rate", 0, 1 << 20},
	GigabytesPerSecond: {"data rate", 0, 1 << 30},

	Milliwatts: {"power", 1e3, 0},
	Watts:      {"power", 1, 0},

	Millijoules: {"energy", 1e9, 0},
	Joules:      {"energy", 1e6, 0},
	Megajoules:  {"energy", 1, 0},

	Hertz:     {"frequency", 0, 1},
	Megahertz: {"frequency", 0, 1e6},
	Gigahertz: {"frequency", 0, 1e9},
}

// RatioOf returns the factor that turns a value in from into one in to. Temperatures have no such
// factor: their scales differ in origin.
func RatioOf(from, to Unit) (float64, error) {
	if from == to {
		return 1, nil
	}
	a, okA := scales[from]
	b, okB := scales[to]
	if !okA || !okB || a.dimension != b.dimension {
		return 0, fmt.Errorf("no conversion from unit %q to %q", from, to)
	}
	if a.perBase != 0 {
		return b.perBase / a.perBase, nil
	}
	return a.ofBase / b.ofBase, nil
}
