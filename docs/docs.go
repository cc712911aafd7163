// Package docs is the documentation of the program: its pages are compiled in, for the command "aiperf docs".
package docs

import "embed"

// Pages are the pages in Markdown, and the dashboard that one of them offers.
//
//go:embed *.md grafana-dashboard.json
var Pages embed.FS
