// Package manual names the pages of the documentation in messages and help texts, by the command that shows them: a user
// of the program alone has no folder with pages.
package manual

// Page is how a message refers to a page, named as its file below docs/ without the ending.
func Page(name string) string { return "aiperf docs " + name }
