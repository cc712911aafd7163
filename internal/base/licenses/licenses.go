// Package licenses has the licences of all that is in the programs, as a release must hand them on.
package licenses

import _ "embed"

// Text is the notice of aiperf, then a table of the modules with the names of their licences, and the texts. It is
// written by tools/licenses.
//
//go:embed licenses.txt
var Text string
