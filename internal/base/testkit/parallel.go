package testkit

import (
	"flag"
	"strconv"
)

// Parallel is a [testing.M] whose tests run Limit at a time, however few cores the machine has: tests that wait for
// processes and timers leave the cores idle. A limit from the command line, -parallel, wins.
type Parallel struct {
	M     interface{ Run() int }
	Limit int
}

// Run sets the limit and runs the tests.
func (p Parallel) Run() int {
	if !flag.Parsed() {
		flag.Parse()
	}
	const name = "test.parallel"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		if err := flag.Set(name, strconv.Itoa(p.Limit)); err != nil {
			panic(err)
		}
	}
	return p.M.Run()
}
