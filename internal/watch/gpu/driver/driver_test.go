package driver

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"aiperf/internal/watch/gpu"
)

// The two layouts that libraries have had for the power of a socket.
func TestSocketPower(t *testing.T) {
	const none16, none = 0xffff, 0xffffffff
	for _, x := range []struct {
		name  string
		words []uint32
		want  float64
	}{
		{"older, current", []uint32{500, none16, 800, 0, 0, 750}, 500},
		{"older, average only", []uint32{none, 300, 800}, 300},
		{"older, neither", []uint32{none, none16, 0, 0}, 0},
		{"newer, current", []uint32{500, 0, 500, none, 800}, 500},
		{"newer, average only", []uint32{300, 0, none, 300, 800}, 300},
		{"newer, no power of the socket", []uint32{none, none, 450, none}, 450},
		{"nothing", []uint32{0, 0, 0, 0}, 0},
	} {
		info := make([]byte, 64)
		for i, w := range x.words {
			binary.NativeEndian.PutUint32(info[4*i:], w)
		}
		if got, ok := socketPower(info); got != x.want || ok != (x.want > 0) {
			t.Errorf("%s: %v %v, want %v", x.name, got, ok, x.want)
		}
	}
}

type fakeReader struct{}

func (fakeReader) Ready() gpu.HelperReady { return gpu.HelperReady{GPUs: 1} }
func (fakeReader) Warnings() []string     { return nil }
func (fakeReader) Read() []gpu.HelperLine {
	return []gpu.HelperLine{{GPU: &gpu.HelperGPU{Index: 3, UUID: "u"},
		Values: map[string]float64{"gpu_power_usage": 5}}}
}

func TestARoundEndsWithItsNumber(t *testing.T) {
	var out bytes.Buffer
	if err := (&writer{out: bufio.NewWriter(&out)}).round(fakeReader{}, 7); err != nil {
		t.Fatal(err)
	}
	want := `{"gpu":{"index":3,"uuid":"u"},"values":{"gpu_power_usage":5}}` + "\n" + `{"round":7}` + "\n"
	if out.String() != want {
		t.Errorf("got %s", out.String())
	}
	l, err := gpu.ParseHelperLine([]byte(strings.SplitN(want, "\n", 2)[0]))
	if err != nil || l.GPU.Index != 3 || l.Values["gpu_power_usage"] != 5 {
		t.Errorf("got %+v, %v", l, err)
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"nvml", "x"}, {"nvml", "--once", "y"}} {
		var complaints bytes.Buffer
		if code := Main(args, strings.NewReader(""), io.Discard, &complaints); code != exitUsage ||
			!strings.Contains(complaints.String(), "Usage:") {
			t.Errorf("%q: %d %s", args, code, complaints.String())
		}
	}
	var out bytes.Buffer
	if code := Main([]string{"bogus"}, strings.NewReader(""), &out, io.Discard); code != exitFailed ||
		!strings.Contains(out.String(), `"failed":`) {
		t.Errorf("%d %s", code, out.String())
	}
	if err := (&writer{out: bufio.NewWriter(closedPipe{})}).round(fakeReader{}, 1); err == nil {
		t.Error("no error where nobody listens")
	}
}
