package document

// Substitute makes n what a text means that stands in the place of another: a boolean, a whole number, a number, else
// the text.
func (n *Node) Substitute(text string) { n.coerce(text) }

// Value is a value as templates know it.
func Value(n *Node) any { return (&renderer{}).known(n) }
