// Command accuracy reads pairs of results as JSON Lines and writes, for each, whether they are equal as the grader math
// sees it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"aiperf/internal/accuracy/grade"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var pair [2]string
		if err := json.Unmarshal(lines.Bytes(), &pair); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(grade.Equal(pair[0], pair[1]))
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
