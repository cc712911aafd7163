package grade_test

import (
	"strings"
	"testing"

	"aiperf/internal/accuracy/grade"
)

func TestTrapLettersAreFoundInTheOrderOfTheRules(t *testing.T) {
	for _, c := range []struct {
		answer, extracted string
		unparsed          bool
	}{
		{"B\nbecause it is", "B", false},
		{" C ", "C", false},
		{"I think (C) is right", "C", true},
		{"The answer is (A). No, the answer is (D).", "D", false},
		{"The answer is B", "B", false},
		{"The Answer is B", "B", true},
		{"Let me see.\nAnswer: C\nor A", "C", true},
		{"Let me see.\nB or D", "D", true},
		{"none of them", "none of them", true},
		{"", "", true},
	} {
		v := grade.MultipleChoice(c.answer, " "+c.extracted)
		if v.Extracted != c.extracted || v.Unparsed != c.unparsed || v.Correct != (c.extracted != "") {
			t.Errorf("%q: %+v", c.answer, v)
		}
	}
}

func TestLettersUpToJ(t *testing.T) {
	for _, c := range []struct {
		answer, extracted string
		unparsed          bool
	}{
		{"J", "J", false}, {"so the answer is (G).", "G", false}, {"Answer: H", "H", true}, {"maybe F, then E", "E", true},
		{"no idea", "", true},
	} {
		if v := grade.MMLUPro(c.answer, "J"); v.Extracted != c.extracted || v.Unparsed != c.unparsed ||
			v.Correct != (c.extracted == "J") {
			t.Errorf("%q: %+v", c.answer, v)
		}
	}
}

func TestTrapGoldLettersAreTrimmed(t *testing.T) {
	if v := grade.MultipleChoice("C", " C"); !v.Correct || v.Gold != "C" {
		t.Errorf("%+v", v)
	}
}

func TestTrapNumbersAfterHashes(t *testing.T) {
	for _, c := range []struct {
		answer, gold      string
		correct, unparsed bool
	}{
		{"so 1234.0", "it is\n#### 1,234", true, true},
		{"#### 24.", "#### 24", true, false},
		{"#### 25", "#### 24", false, false},
		{"no number", "#### 24", false, true},
		{"#### 24", "24", false, false},
		{"#### -3", "#### -3", true, false},
		{"The total is 7.", "#### 7", true, true},
	} {
		if v := grade.GSM8K(c.answer, c.gold); v.Correct != c.correct || v.Unparsed != c.unparsed {
			t.Errorf("%q: %+v", c.answer, v)
		}
	}
}

func TestTrapExactMatchKnowsCase(t *testing.T) {
	for _, c := range []struct {
		answer, gold      string
		correct, unparsed bool
	}{{"a", "A", false, false}, {" A\n", "A", true, false}, {"", "A", false, true}, {" ", "", false, false}} {
		if v := grade.ExactMatch(c.answer, c.gold); v.Correct != c.correct || v.Unparsed != c.unparsed {
			t.Errorf("%q: %+v", c.answer, v)
		}
	}
}

func TestTrapBoxedResults(t *testing.T) {
	for _, c := range []struct {
		answer, extracted string
		unparsed          bool
	}{
		{`so \boxed{a_{1}}.`, "a_{1}", false},
		{`first \boxed{3}, then \boxed{4}`, "4", false},
		{`so \boxed{12`, "12", true},
		{"\\boxed{:\n5/.}", "5", false},
		{"The final answer is 12 apples. Bye", "12", true},
		{`The answer is $\frac{1}{2}$.`, `$\frac{1}{2}$`, true},
		{"we get 3, then 7/8", "7/8", true},
		{"nothing", "nothing", true},
	} {
		if v := grade.Math(c.answer, "x"); v.Extracted != c.extracted || v.Unparsed != c.unparsed {
			t.Errorf("%q: %+v", c.answer, v)
		}
	}
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`\frac{1}{2}`, "0.5", true}, {`50\%`, "0.5", true}, {"12", "0.12", true}, {"1,2", "2,1", true},
		{`\dfrac12`, `\frac{1}{2}`, true}, {"1/2", `\frac{1}{2}`, true}, {"3.000", "3", true}, {".5", "0.5", true},
		{"x=5", "5", true}, {`\sqrt2`, `\sqrt{2}`, true}, {`2\sqrt{2}`, `\sqrt{8}`, true}, {`\text{east}`, "east", true},
		{`5\text{ cm}`, "5", true}, {"10 inches", "10", true}, {"1,234", "1234", true}, {"infinity", `\infty`, true},
		{"(1,2)", "(2,1)", false}, {"[1,2]", "(1,2)", false}, {"[1,2)", "[1,2)", true}, {`\{1,2\}`, `\{2,1\}`, true},
		{"(0.5,2)", `\left(\frac{1}{2}, 2\right)`, true}, {"(A)", "A", true}, {"B", "A", false}, {"A. 12", "12", true},
		{"x^2+2x+1", "(x+1)^2", true}, {"x^2+2x+1", "(x+2)^2", false}, {"x+y=1", "2x+2y=2", true},
		{"y=2x+1", "2x-y+1=0", true}, {`\begin{pmatrix}1&2\\3&4\end{pmatrix}`, `\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}`, true},
		{`2\frac{1}{2}`, "2.5", true}, {`3\pi`, "9.42477796", true}, {`\sin^2 x+\cos^2 x`, "1", true}, {"5!", "120", true},
		{`\log_2 8`, "3", true}, {`\binom{5}{2}`, "10", true}, {`(-\infty,2)\cup(3,\infty)`, `(3,\infty)\cup(-\infty,2)`, true},
		{"90^\\circ", "90", true}, {`\$5.00`, "5", true}, {"p-q", "q-p", false}, {"", "5", false}, {"7", "8", false},
		{`\frac{\sqrt{3}}{3}`, `\frac{1}{\sqrt{3}}`, true}, {"2i", "2j", true}, {"1e3", "1000", true},
		{`6+9i`, `9i+6`, true}, {`x \in [-2,7]`, "[-2,7]", true}, {`2^{10}`, "1024", true}, {"-1/3", `-\frac{1}{3}`, true},
		{`\frac{-1}{3}`, `-\frac{1}{3}`, true}, {"hello", "world", false}, {`10\,000`, "10000", true},
	} {
		if got := grade.Equal(c.a, c.b); got != c.want {
			t.Errorf("Equal(%q, %q) = %v: %q, %q", c.a, c.b, got, grade.Normal(c.a), grade.Normal(c.b))
		}
	}
}

func TestEqualIsSymmetricButForPercent(t *testing.T) {
	list := []string{"1", "2", `\frac{1}{2}`, "0.5", "x", "x+1", "1+x", "(1,2)", "[1,2]", `\{1,2\}`, "x=1", "A", "", `\sqrt{x}`}
	for _, a := range list {
		for _, b := range list {
			if grade.Equal(a, b) != grade.Equal(b, a) {
				t.Errorf("%q and %q: %v one way", a, b, grade.Equal(a, b))
			}
		}
	}
}

func TestEveryGraderHasARow(t *testing.T) {
	for _, g := range grade.Graders() {
		if (g.Grade == nil) != (g.Name == grade.CodeExecution) || g.About == "" {
			t.Errorf("%+v", g)
		}
	}
	if len(grade.Graders()) != 9 {
		t.Errorf("%d graders", len(grade.Graders()))
	}
}

// hostile are texts that slow extraction down where it is not linear.
func hostile() map[string]string {
	return map[string]string{
		"braces": strings.Repeat("{", 1<<20), "boxes": strings.Repeat(`\boxed{`, 1<<17),
		"closed boxes": strings.Repeat(`\boxed{`, 1<<16) + strings.Repeat("}", 1<<16),
		"fractions":    `\boxed{` + strings.Repeat(`\frac{`, 600) + "1" + strings.Repeat("}", 600) + "}",
		"answers":      strings.Repeat("answer is (A) ", 1<<16), "commas": `\boxed{` + strings.Repeat("1,", 2000) + "}",
		"roots": `\boxed{` + strings.Repeat(`\sqrt`, 700) + "}", "digits": strings.Repeat("9", 1<<20),
		"minus": `\boxed{` + strings.Repeat("-", 4000) + "1}", "powers": `\boxed{` + strings.Repeat("9^", 1500) + "9}",
	}
}

func TestHostileAnswersAreGraded(t *testing.T) {
	for name, text := range hostile() {
		for _, g := range grade.Graders() {
			if g.Grade != nil {
				if v := g.Grade(text, "17"); v.Correct {
					t.Errorf("%s, %s: correct", g.Name, name)
				}
			}
		}
	}
}

// Grading a hostile text costs memory in proportion to it: what is allocated is counted, since time depends on the
// machine.
func TestHostileAnswersCostBoundedMemory(t *testing.T) {
	for name, text := range hostile() {
		for _, g := range grade.Graders() {
			if g.Grade == nil {
				continue
			}
			g.Grade("1", "1") // compiles patterns
			r := testing.Benchmark(func(b *testing.B) {
				if b.N > 1 {
					b.SkipNow()
				}
				b.ReportAllocs()
				g.Grade(text, "17")
			})
			if most := int64(32 << 20); r.AllocedBytesPerOp() > most {
				t.Errorf("%s, %s: %d bytes", g.Name, name, r.AllocedBytesPerOp())
			}
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile() {
		for _, g := range grade.Graders() {
			if g.Grade == nil {
				continue
			}
			b.Run(g.Name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					g.Grade(text, "17")
				}
			})
		}
	}
}

func BenchmarkGrade10000(b *testing.B) {
	text := strings.Repeat("We multiply both sides by 12 and get $x = 3$. ", 40) + `So the answer is \boxed{\frac{3}{4}}. The answer is (B)`
	for _, g := range grade.Graders() {
		if g.Grade == nil {
			continue
		}
		b.Run(g.Name, func(b *testing.B) {
			for b.Loop() {
				for range 10_000 {
					g.Grade(text, `\frac{6}{8}`)
				}
			}
		})
	}
}

func FuzzEqual(f *testing.F) {
	for _, s := range []string{`\frac{1}{2}`, "(1,2]", `\sqrt[3]{x}`, `\begin{pmatrix}1&2\\3&4\end{pmatrix}`, "x=1", `5\text{ cm}`} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := grade.Normal(a), grade.Normal(b)
		_, isA := grade.Decimal(x)
		_, isB := grade.Decimal(y)
		// A gold letter and the percent variants of a gold number are meant to be one-sided.
		if !grade.IsChoice(x) && !grade.IsChoice(y) && !(isA && isB) && grade.Equal(a, b) != grade.Equal(b, a) {
			t.Errorf("%q and %q: %v one way", a, b, grade.Equal(a, b))
		}
		if !grade.Equal(a, a) && strings.TrimSpace(a) != "" && grade.Normal(a) != "" {
			t.Errorf("%q does not equal itself", a)
		}
		grade.Math(a, b)
		grade.Letter(a, b)
	})
}
