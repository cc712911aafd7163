package judge

import (
	"fmt"
	"strings"

	"aiperf/internal/base/artifact"
)

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func short(v float64) string { return artifact.Short(v) }

func count(n int64) string { return artifact.GroupThousands(fmt.Sprint(n)) }

// percent writes a share.
func percent(share float64) string { return short(100*share) + " %" }

func lower(s string) string { return strings.ToLower(s[:1]) + s[1:] }
