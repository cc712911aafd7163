package grade

import (
	"regexp"
	"strings"
	"sync"
)

// words are names of units and months, which say nothing about a value, and "and".
var words = strings.Fields(`
	degree degrees deg percent cm mm km dm meter meters metre metres m2 cm2 inch inches foot feet ft yard yards mile miles
	second seconds sec minute minutes min hour hours hr day days week weeks month months year years
	dollar dollars cent cents euro euros pound pounds
	gram grams kg kilogram kilograms liter liters litre litres ml
	unit units square squared cubic mph kmh
	people students points ways items
	january february march april may june july august september october november december
	and`)

type rules struct {
	units, text, box, assign, member, leadDot, zeros, shortLeft, sqrt, frac, fraction *regexp.Regexp
	plain                                                                             *strings.Replacer
	commands                                                                          *strings.Replacer
}

var normalRules = sync.OnceValue(func() *rules {
	return &rules{
		units:     regexp.MustCompile(`(?i)(^|[^\\a-z])(?:` + strings.Join(words, "|") + `)([^a-z]|$)`),
		text:      regexp.MustCompile(`\\(?:text|mbox|mathrm|textbf|textit|operatorname)\{([^{}]*)\}`),
		box:       regexp.MustCompile(`\\(?:mathbf|mathbb|mathcal|boldsymbol)(?:\{([^{}]*)\})?`),
		assign:    regexp.MustCompile(`^[xyz]=([^xyz=]*)$`),
		member:    regexp.MustCompile(`^[xyz]\\(?:in|to|rightarrow)(?:[^a-z]|$)`),
		leadDot:   regexp.MustCompile(`(^|[^0-9A-Za-z])\.([0-9])`),
		zeros:     regexp.MustCompile(`([0-9])\.0+($|[^0-9])`),
		shortLeft: regexp.MustCompile(`^[A-Za-z](?:_\{?[A-Za-z0-9]\}?)?(?:\([A-Za-z]\))?=([^=<>xyz]+)$`),
		sqrt:      regexp.MustCompile(`\\sqrt([0-9A-Za-z])`),
		frac:      regexp.MustCompile(`\\frac([0-9A-Za-z])([0-9A-Za-z])`),
		fraction:  regexp.MustCompile(`^(-?[0-9]+)/([0-9]+)$`),
		plain: strings.NewReplacer(`\!`, "", `\,`, "", `\;`, "", `\:`, "", `\ `, "", "~", " ",
			`\left`, "", `\right`, "", `\$`, "", "$", "", `\(`, "", `\)`, "", `\[`, "", `\]`, "",
			`^{\circ}`, "", `^\circ`, "", `\degree`, "", "°", "", `\%`, "", "%", "",
			"−", "-", "–", "-", "×", `\times`, "÷", `\div`, "π", `\pi`, "∞", `\infty`, "√", `\sqrt`, "·", `\cdot`,
			"≤", `\le`, "≥", `\ge`, "≠", `\ne`, "∪", `\cup`, "½", `\frac{1}{2}`, "¼", `\frac{1}{4}`),
		commands: strings.NewReplacer(`\tfrac`, `\frac`, `\dfrac`, `\frac`, `\cfrac`, `\frac`,
			`\neq`, `\ne`, `\leq`, `\le`, `\geq`, `\ge`, `\leqslant`, `\le`, `\geqslant`, `\ge`,
			"{bmatrix}", "{pmatrix}", "{vmatrix}", "{pmatrix}", "{matrix}", "{pmatrix}", `\displaystyle`, "",
			`\limits`, "", `\quad`, "", `\qquad`, "", `\cdots`, `\ldots`, `\dots`, `\ldots`),
	}
})

var arrays = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\(begin|end)\{array\}(?:\{[^{}]*\})?`)
})

// normal returns a result in a form in which equal results are more often equal as text: without layout, units and
// dollar signs, with one spelling of each command, without blanks.
func normal(text string) string {
	r := normalRules()
	s := strings.TrimSpace(strings.ReplaceAll(text, "\n", " "))
	s = strings.TrimRight(s, ". ")
	s = r.commands.Replace(s)
	s = arrays().ReplaceAllString(s, `\$1{pmatrix}`)
	s = strings.ReplaceAll(s, `\\`, "\x00") // ends of rows survive what follows
	s = r.plain.Replace(s)
	s = r.box.ReplaceAllString(s, "$1")
	s = unwrap(s, r.text)
	for range 2 { // words next to each other share a separator
		s = r.units.ReplaceAllString(s, "$1$2")
	}
	s = strings.Join(strings.Fields(s), "")
	s = strings.ReplaceAll(s, "\x00", `\\`)
	for range 2 {
		s = r.assign.ReplaceAllString(s, "$1")
		if m := r.member.FindString(s); m != "" {
			s = strings.TrimLeft(s[1:], "")
			s = s[len(commandAt(s)):]
		}
	}
	s = infinity(s)
	if strings.Contains(s, "j") && !strings.Contains(s, "i") && !strings.Contains(s, `\`) {
		s = strings.ReplaceAll(s, "j", "i")
	}
	for range 2 {
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
