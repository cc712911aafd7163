// Package docs is the documentation of the program: its pages are compiled in, for the command "aiperf docs".
package docs

import "embed"

// Pages are the pages in Markdown.
//
//go:embed *.md
var Pages embed.FS
