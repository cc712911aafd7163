package jsonscan

// Fault is what is wrong with a text.
type Fault int

const (
	WantObject         Fault = iota // an opening brace
	WantArray                       // an opening bracket
	WantKey                         // the key of a member
	WantColon                       // the colon after a key
	WantValue                       // a value
	WantBrace                       // a comma or the closing brace
	WantBracket                     // a comma or the closing bracket
	WantEnd                         // the end of the text
	MalformedNumber                 // a digit is missing
	InvalidEscape                   // a backslash and what JSON does not allow after it
	ControlCharacter                // one in a string, unescaped
	UnterminatedString              // the text ends in a string
	TooDeep                         // more than [MaxDepth] levels
)

const faultBits = 4

// at makes the result that stands for a fault.
func (f Fault) at(i int) int { return ^(i<<faultBits | int(f)) }

// FaultOf returns what a negative position stands for: where the text is wrong, and how.
func FaultOf(end int) (at int, f Fault) {
	return ^end >> faultBits, Fault(^end & (1<<faultBits - 1))
}
