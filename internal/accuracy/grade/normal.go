package grade

import (
	"regexp"
	"strings"
	"sync"
)

// words are names of units and months and other words that say nothing about a value. They are removed from a text with
// a number alone: in another one they may be the answer.
var words = strings.Fields(`
	degree degrees deg percent cm mm km dm meter meters metre metres m2 cm2 inch inches foot feet ft yard yards mile miles
	second seconds sec secs minute minutes min mins hour hours hr hrs day days week weeks month months year years yr yrs
	dollar dollars cent cents euro euros pound pounds rupee rupees rs
	gram grams kg kilogram kilograms liter liters litre litres ml gallon gallons lb lbs
	unit units square squared sq cubic cube mph kmh kmph ohm ohms acre acres hectare hectares
	people students points way ways items man men woman women apple apples coin coins number numbers toy toys
	east west profit loss ratio per more less are as by
	january february march april may june july august september october november december
	and`)

type rules struct {
	units, letter, text, box, assign, each, sign, member *regexp.Regexp
	leadDot, zeros, shortLeft, sqrt, frac, fraction      *regexp.Regexp
	plain, commands                                      *strings.Replacer
}

var normalRules = sync.OnceValue(func() *rules {
	return &rules{
		units:     regexp.MustCompile(`(?i)(^|[^\\a-z])(?:` + strings.Join(words, "|") + `|(?-i:am|pm|noon))([^a-z]|$)`),
		letter:    regexp.MustCompile(`([0-9])\s+[acdghlmst]$`),
		text:      regexp.MustCompile(`\\(?:text|mbox|mathrm|textbf|textit|operatorname)\{([^{}]*)\}`),
		box:       regexp.MustCompile(`\\(?:mathbf|mathbb|mathcal|boldsymbol)(?:\{([^{}]*)\})?`),
		assign:    regexp.MustCompile(`^[xyz]=([^xyz=]*)$`),
		sign:      regexp.MustCompile(`(^|[(\[,])\+`),
		each:      regexp.MustCompile(`(^|,)[xyz]=`),
		member:    regexp.MustCompile(`^[xyz]\\(?:in|to|rightarrow)(?:[^a-z]|$)`),
		leadDot:   regexp.MustCompile(`(^|[^0-9A-Za-z])\.([0-9])`),
		zeros:     regexp.MustCompile(`([0-9])\.0+($|[^0-9])`),
		shortLeft: regexp.MustCompile(`^[A-Za-z]{1,2}=([^=<>xyz]+)$`),
		sqrt:      regexp.MustCompile(`\\sqrt ?([0-9]+|[A-Za-z])`),
		frac:      regexp.MustCompile(`\\frac ?([0-9A-Za-z])([0-9A-Za-z])`),
		fraction:  regexp.MustCompile(`^(-?[0-9]+)/([0-9]+)$`),
		plain: strings.NewReplacer(`\!`, "", `\,`, "", `\;`, "", `\:`, "", `\ `, "", "~", " ",
			`\left`, "", `\right`, "", `\$`, "", "$", "", `\(`, "", `\)`, "", `\[`, "", `\]`, "", "{,}", ",",
			`^{\circ}`, "", `^\circ`, "", `\degree`, "", "°", "", `\%`, "", "%", "",
			"−", "-", "–", "-", "×", `\times`, "÷", `\div`, "π", `\pi`, "∞", `\infty`, "√", `\sqrt`, "·", `\cdot`,
			"≤", `\le`, "≥", `\ge`, "≠", `\ne`, "∪", `\cup`, "½", `\frac{1}{2}`, "¼", `\frac{1}{4}`),
		commands: strings.NewReplacer(`\tfrac`, `\frac`, `\dfrac`, `\frac`, `\cfrac`, `\frac`,
			`\neq`, `\ne`, `\leq`, `\le`, `\geq`, `\ge`, `\leqslant`, `\le`, `\geqslant`, `\ge`,
			"{bmatrix}", "{pmatrix}", "{vmatrix}", "{pmatrix}", "{matrix}", "{pmatrix}", `\displaystyle`, "", `\emptyset`, `\{\}`, `\varnothing`, `\{\}`,
			`\limits`, "", `\quad`, "", `\qquad`, "", `\cdots`, `\ldots`, `\dots`, `\ldots`),
	}
})

var arrays = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\(begin|end)\{array\}(?:\{[^{}]*\})?`)
})

// Normal returns a result in a form in which equal results are more often equal as text: without layout, units and
// dollar signs, with one spelling of each command, without blanks.
func Normal(text string) string {
	r := normalRules()
	s := strings.TrimSpace(strings.ReplaceAll(text, "\n", " "))
	s = strings.TrimRight(s, ". ")
	s = r.commands.Replace(s)
	if strings.Contains(s, "{array}") {
		s = arrays().ReplaceAllString(s, `\$1{pmatrix}`)
	}
	s = strings.ReplaceAll(s, `\\`, "\x00") // ends of rows survive what follows
	s = r.plain.Replace(s)
	if strings.Contains(s, `\`) {
		s = r.box.ReplaceAllString(s, "$1")
		s = unwrap(s, r.text)
	}
	if strings.ContainsAny(s, "0123456789") && hasWord(s) {
		for range 2 { // words next to each other share a separator
			s = r.units.ReplaceAllString(s, "$1$2")
		}
		s = r.letter.ReplaceAllString(strings.TrimSpace(s), "$1")
	}
	s = withoutBlanks(s)
	s = strings.ReplaceAll(s, "\x00", `\\`)
	for range 2 {
		s = r.assign.ReplaceAllString(s, "$1")
		if m := r.member.FindString(s); m != "" {
			s = strings.TrimLeft(s[1:], "")
			s = s[len(commandAt(s)):]
		}
	}
	if strings.Count(s, "=") > 1 {
		s = r.each.ReplaceAllString(s, "$1")
	}
	s = r.sign.ReplaceAllString(s, "$1")
	s = infinity(s)
	if strings.Contains(s, "j") && !strings.Contains(s, "i") && !strings.Contains(s, `\`) {
		s = strings.ReplaceAll(s, "j", "i")
	}
	for range 2 * min(1, strings.Count(s, ".")) {
		s = r.zeros.ReplaceAllString(s, "$1$2")
		s = r.leadDot.ReplaceAllString(s, "${1}0.$2")
	}
	if m := r.shortLeft.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	s = r.sqrt.ReplaceAllString(s, `\sqrt{$1}`)
	s = r.frac.ReplaceAllString(s, `\frac{$1}{$2}`)
	s = r.fraction.ReplaceAllString(s, `\frac{$1}{$2}`)
	return s
}

// hasWord reports whether a text has letters that are not those of a command.
func hasWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i += len(commandAt(s[i:])) - 1
		} else if isLetter(s[i]) {
			return true
		}
	}
	return false
}

// withoutBlanks removes blanks but for one that ends the name of a command.
func withoutBlanks(s string) string {
	list := strings.Fields(s)
	var b strings.Builder
	for i, field := range list {
		if i > 0 && isLetter(field[0]) && endsInCommand(list[i-1]) {
			b.WriteByte(' ')
		}
		b.WriteString(field)
	}
	return b.String()
}

func endsInCommand(s string) bool {
	i := len(s)
	for i > 0 && isLetter(s[i-1]) {
		i--
	}
	return i > 0 && i < len(s) && s[i-1] == '\\'
}

// unwrap replaces texts by their content. One at the end behind something is a remark, such as a unit, and is removed.
func unwrap(s string, text *regexp.Regexp) string {
	if m := text.FindAllStringIndex(s, -1); m != nil {
		end := m[len(m)-1]
		if strings.TrimSpace(s[end[1]:]) == "" && strings.TrimSpace(s[:end[0]]) != "" {
			s = s[:end[0]]
		}
	}
	return text.ReplaceAllString(s, "$1")
}

// commandAt is the command that a text begins with, such as \frac; "" for none.
func commandAt(s string) string {
	if s == "" || s[0] != '\\' {
		return ""
	}
	n := 1
	for n < len(s) && (s[n] >= 'a' && s[n] <= 'z' || s[n] >= 'A' && s[n] <= 'Z') {
		n++
	}
	if n == 1 && len(s) > 1 {
		n = 2
	}
	return s[:n]
}

func infinity(s string) string {
	if !strings.Contains(s, "inf") || strings.Contains(s, `\inf`) && !strings.Contains(s, "infinity") {
		return s
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, `\infinity`, `\infty`), "infinity", `\infty`)
	if strings.Contains(s, `\inf`) {
		return s
	}
	return strings.ReplaceAll(s, "inf", `\infty`)
}
