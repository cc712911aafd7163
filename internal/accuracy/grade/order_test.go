package grade_test

import (
	"testing"

	"aiperf/internal/accuracy/grade"
)

// The verdicts of these tables are those of the original, as a black box.

func TestTrapPercentOfAResult(t *testing.T) {
	for _, c := range []struct {
		answer, gold string
		want         bool
	}{
		{`\boxed{\frac{1}{2}}`, "0.5", true}, {`\boxed{50\%}`, "0.5", true}, {`\boxed{12}`, "0.12", true}, {`\boxed{0.12}`, "12", true},
		{`\boxed{1200}`, "12", true}, {`\boxed{50}`, `\frac{1}{2}`, false}, {`\boxed{12.0005}`, "12", false},
		{`\boxed{12.00005}`, "12", true}, {`\boxed{(0.1\%)}`, "0.001", false},
	} {
		if v := grade.Math(c.answer, c.gold); v.Correct != c.want || v.Unparsed {
			t.Errorf("%q for %q: %+v", c.answer, c.gold, v)
		}
	}
}

func TestTrapListsInAnyOrder(t *testing.T) {
	for _, c := range []struct {
		answer, gold string
		want         bool
	}{
		{`\boxed{1,2}`, "2,1", true}, {`\boxed{3,2,1}`, "1,2,3", true}, {`\boxed{1,2}`, "1,2,3", false},
		{`\boxed{(2,1)}`, "(1,2)", false}, {`\boxed{2,1}`, "(1,2)", true}, {`\boxed{1;2}`, "1,2", false},
	} {
		if v := grade.Math(c.answer, c.gold); v.Correct != c.want {
			t.Errorf("%q for %q: %+v", c.answer, c.gold, v)
		}
	}
}

func TestTrapUnclosedBoxesAreNone(t *testing.T) {
	for answer, want := range map[string]string{
		`\boxed{a_{1}}`: "a_{1}", `\boxed{12`: "12", `\boxed{5} \boxed{6`: "6", `\boxed{6 \boxed{5}`: "5", `\boxed{\boxed{3}}`: "3",
	} {
		if v := grade.Math(answer, "x"); v.Extracted != want {
			t.Errorf("%q: %q, want %q", answer, v.Extracted, want)
		}
	}
}

func TestPhrasesThatStateAResult(t *testing.T) {
	for answer, want := range map[string]string{
		`final answer is \pi`: `is \pi`, `the answer is: \pi`: `\pi`, `Answer = \pi`: `\pi`, `**Answer:** \pi`: `** \pi`,
		`Answer: \pi. Then 5`: `\pi`, `Answer: \pi 3. Then 5`: `\pi 3. Then 5`, `Answer: \pi a.5 b`: `\pi a.5 b`,
		"Answer: yes\n7": "yes", "Answer: Yes, 5 of 7": "7", "the answer is 3. Answer: 4": "4", "Answer: -.5": "5",
		"Answer: 1,234": "234", "the answer was 5": "5", "Answer:": "Answer:", "The answer is ": "", "no number": "no number",
		`the answer is \boxed{7} ok`: "7", "x = 5 and y = 7/8": "7/8",
	} {
		if v := grade.Math(answer, "x"); v.Extracted != want {
			t.Errorf("%q: %q, want %q", answer, v.Extracted, want)
		}
	}
}

func TestTrapLettersOfGPQA(t *testing.T) {
	for answer, want := range map[string]string{
		"A": "A", "A)": "", "(A) text": "A", " A": "", "text\nA": "A", "text. A": "", "A\ntext": "", "A. x\nB. y": "A",
		"Answer: A": "A", "Answer: **(A)**": "A", "Answer:A": "", `Answer: \boxed{A}`: "", "Answer: C, no, A": "C",
		"Answer: A\nAnswer: B": "B", "answer is A. x\nB. y": "A", "answer is A\nB. y": "B", "A. x\nanswer is B": "B",
		"The final answer is A. Answer: B": "A", "final answer is (A), answer B": "A", "final answer is **A** answer B": "B",
		"final answer is B. I hope. The final answer is A. Done": "B", "the answer should be (C).": "C", "Answer: E": "",
		"answer" + "12345678901234567890123456789012345678901234567890 A":  "A",
		"answer" + "123456789012345678901234567890123456789012345678901 A": "",
	} {
		if v := grade.Letter(answer, "A"); v.Extracted != want || v.Unparsed || v.Correct != (want == "A") {
			t.Errorf("%q: %+v, want %q", answer, v, want)
		}
	}
}

func TestExpressionsAreFoundInOrder(t *testing.T) {
	for answer, want := range map[string]bool{
		"42": true, `\boxed{42}`: true, `\boxed{42} answer: 43`: true, `answer: 43 \boxed{42}`: true, `\boxed{43} \boxed{42}`: true,
		`\boxed{43} and \boxed{42}`: false, `\boxed{} 42`: true, `\boxed{42`: false, `\boxed 42`: true,
		"final answer is 42. answer: 43": true, "final answer is $42$. I hope it. answer is 43": true,
		"answer: 43\n42": false, "answer is 42 or 43": true, "answer is 43 or 42": false, "answer is 6 * 7": true,
		"$43$ then 42": true, "42 then $43$": false, "43 then 42": true, "answer is (42)": false, "answer is €42": true, "x42": false,
		"answer is 42.00001": false, "answer is 42.0": true, "answer is 42%": true, `\boxed{42\%}`: false, `$x = 42$`: true,
		`$x=43$, $y=42$`: false, "$41+1=42$": true, `answer is \frac{84}{2}`: true, "0.42": false, "-42": false,
		`\boxed{42\text{ cm}}`: true, `\boxed{42,43}`: false, `\boxed{(42)}`: true, "": false,
	} {
		if v := grade.Expression(answer, "42"); v.Correct != want || v.Unparsed {
			t.Errorf("%q: %+v, want %v", answer, v, want)
		}
		if v := grade.LaTeX(answer, `We see $1+1=2$. Hence it is $\boxed{42}$.`); v.Correct != want || v.Unparsed {
			t.Errorf("LaTeX %q: %+v, want %v", answer, v, want)
		}
	}
}

func TestLaTeXResults(t *testing.T) {
	for _, c := range []struct {
		gold, answer string
		want         bool
	}{
		{`\frac{3}{4}`, "0.75", true}, {`\frac{3}{4}`, `75\%`, true}, {"8", `8\%`, false}, {`\frac{1}{9}`, "0.1111", false},
		{`\frac{1}{9}`, "0.111111", true}, {`\sqrt{117}`, `3\sqrt{13}`, true}, {`\sqrt{117}`, "10.8167", false},
		{"(3,5,7)", "7,5,3", false}, {"3,5,7", `\{7,5,3\}`, true}, {`1,-2`, `x=1\text{ or }x=-2`, true}, {"x>5", `(5,\infty)`, true},
		{`(5,\infty)`, "x>5", false}, {`[-2,7]`, `x\in[-2,7]`, true}, {"x=5", "y=5", false}, {"x=5", "5=x", true}, {"y=2x+3", "2x-y+3=0", true},
		{`1\pm\sqrt{19}`, `1+\sqrt{19},1-\sqrt{19}`, true}, {"6-5i", "6-5j", false}, {"Odd", "odd", false}, {`\text{odd}`, "Odd", true},
		{"2220", "2 220", false}, {"2220", "2{,}220", true}, {`\log_2 3`, `\frac{\ln 3}{\ln 2}`, true}, {"2k", "2K", false},
		{`\pi`, `\pi\text{ cm}^2`, true}, {`\frac{x+2}{7}`, `f^{-1}(x)=\frac{x+2}{7}`, true},
	} {
		if v := grade.LaTeX(`So $\boxed{`+c.answer+`}$.`, `Hence it is $\boxed{`+c.gold+`}$.`); v.Correct != c.want {
			t.Errorf("%q for %q: %v", c.answer, c.gold, v.Correct)
		}
	}
}
