package metrics

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/record"
)

// sameValue compares both ways to read a value of a metric; it reports whether the short one took it.
func sameValue(t *testing.T, tag, value string) bool {
	t.Helper()
	told, short, long := ToldBy(tag), record.Record{Facts: record.NewFacts()}, record.Record{Facts: record.NewFacts()}
	end := told.Scan(&short, []byte(value+",x"), 0)
	if end < 0 {
		if !reflect.DeepEqual(long, short) {
			t.Fatalf("%s %s is refused and changed the record: %s", tag, value, cmp.Diff(long, short))
		}
		return false
	}
	if end != len(value) {
		t.Fatalf("%s %s is read to %d", tag, value, end)
	}
	if err := RestoreMetric(&long, tag, []byte(value)); err != nil {
		t.Fatalf("%s %s: %v", tag, value, err)
	}
	if !reflect.DeepEqual(long, short) { // in less time than a Diff, which finds where
		t.Fatalf("%s %s: %s", tag, value, cmp.Diff(long, short))
	}
	return true
}

// The short way to read a value makes of it what the long one does, or leaves it.
func TestUsualValuesAreScannedAsTheyAreRead(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	taken := 0
	for range 5_000 {
		n := random.Int64N(1 << (1 + random.IntN(52)))
		for _, v := range []float64{float64(n) * 1e-6, float64(n) / 1e6, random.Float64(), float64(n) + 0.5} {
			value := string(artifact.AppendFloat(nil, v))
			for tag, value := range map[string]string{
				"request_latency": value, "output_token_throughput_per_user": value, listTag: "[" + value + ",0.5]",
			} {
				if sameValue(t, tag, value) {
					taken++
				}
			}
		}
		sameValue(t, "request_latency", strconv.FormatInt(n, 10))
		sameValue(t, "http_req_connection_reused", strconv.FormatInt(n, 10))
	}
	if taken < 30_000 {
		t.Errorf("only %d values took the short way", taken)
	}
	for _, value := range []string{"0", "0.0", "10.4999995", "10.50000049999999", "281474976710.656",
		"999999999999999999"} {
		sameValue(t, "request_latency", value)
	}
	for _, value := range []string{"", "-", "-1", "01", "1.", ".5", "1e3", "1.5E3", "9999999999999999999", "null", `"1"`,
		"[1.5]", " 1"} {
		told := ToldBy("request_latency")
		if end := told.Scan(&record.Record{}, []byte(value), 0); end >= 0 {
			t.Errorf("%q is read to %d", value, end)
		}
	}
	for _, value := range []string{"[]", "[", "[1.5", "[1.5,", "[1.5,]", "[-1.5]", "[ 1.5]", "[1.5 ]", "1.5", "[null]"} {
		told := ToldBy(listTag)
		if end := told.Scan(&record.Record{}, []byte(value), 0); end >= 0 {
			t.Errorf("%q is read to %d", value, end)
		}
	}
}

func FuzzTold(f *testing.F) {
	f.Add("10.499910999999999")
	f.Add("[1.5,2.25]")
	f.Add("10.4999995")
	f.Fuzz(func(t *testing.T, value string) {
		for _, tag := range []string{"request_latency", "http_req_connection_reused", listTag} {
			told, rec := ToldBy(tag), &record.Record{Facts: record.NewFacts()}
			if end := told.Scan(rec, []byte(value), 0); end >= 0 {
				sameValue(t, tag, value[:end])
			}
		}
	})
}
