package testkit

import "os"

// FullVariable is the environment variable that selects the long versions of tests: all seeds and all cases.
const FullVariable = "AIPERF_TEST_FULL"

// Full reports whether tests run in their long versions: [FullVariable] is set to something other than "" or "0".
func Full() bool {
	value := os.Getenv(FullVariable)
	return value != "" && value != "0"
}

// Seeds returns all if tests run in their long versions, and few otherwise.
func Seeds(few, all int) int {
	if Full() {
		return all
	}
	return few
}
