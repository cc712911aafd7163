package testkit_test

import (
	"flag"
	"net"
	"testing"

	"aiperf/internal/base/testkit"
)

func TestTheLongVersionsAreForWhoAsks(t *testing.T) {
	for value, want := range map[string]int{"": 3, "0": 3, "1": 500, "yes": 500} {
		t.Setenv(testkit.FullVariable, value)
		if got := testkit.Seeds(3, 500); got != want || testkit.Full() != (want == 500) {
			t.Errorf("with %q: %d seeds, full %v", value, got, testkit.Full())
		}
	}
}

type counted int

func (c *counted) Run() int { *c++; return 7 }

func TestALimitFromTheCommandLineWins(t *testing.T) {
	limit := func() string { return flag.Lookup("test.parallel").Value.String() }
	before, given := limit(), false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	var runs counted
	code := testkit.Parallel{M: &runs, Limit: 19}.Run()
	if want := map[bool]string{true: before, false: "19"}[given]; limit() != want || code != 7 || runs != 1 {
		t.Errorf("limit %s, want %s; exit code %d after %d runs", limit(), want, code, runs)
	}
	// Whether it was set here or on the command line, it counts as given from now on.
	set := limit()
	testkit.Parallel{M: &runs, Limit: 23}.Run()
	if limit() != set {
		t.Errorf("limit %s, want %s", limit(), set)
	}
}

func TestAReservedAddressIsRefusedAndCanBeListenedOn(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		address := testkit.Address(t)
		if seen[address] {
			t.Fatalf("%s was returned twice", address)
		}
		seen[address] = true
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			t.Fatalf("something listens on %s", address)
		}
		for range 2 {
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
		}
	}
}
