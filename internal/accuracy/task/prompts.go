package task

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
)

func user(text string) message      { return message{"user", text} }
func assistant(text string) message { return message{"assistant", text} }

const (
	stepByStep = "Let's think step by step."
	fence      = "```"
)

// lettered is a list of choices with letters: "A. …".
func lettered(choices []string, sign string) string {
	var b strings.Builder
	for i, c := range choices {
		fmt.Fprintf(&b, "%s%s %s\n", letter(i), sign, c)
	}
	return b.String()
}

// bare asks the problem alone.
func (m *maker) bare(r record) ([]message, string, error) {
	return []message{user(r.text("problem"))}, r.text("answer"), nil
}

// solution asks the problem alone; the gold result stands in the solution.
func (m *maker) solution(r record) ([]message, string, error) {
	return []message{user(r.text("problem"))}, r.text("solution"), nil
}

func (m *maker) gsm8k(r record) ([]message, string, error) {
	return []message{user("Question: " + r.text("question") + "\nAnswer:")}, r.text("answer"), nil
}

// mmlu shows worked examples as a conversation, or as one text without messages. The gold letter follows a blank, as
// the answer follows "Answer:".
func (m *maker) mmlu(r record) ([]message, string, error) {
	instruction := fmt.Sprintf("Answer multiple-choice questions about %s. One choice of each is right.",
		strings.ReplaceAll(m.task, "_", " "))
	if m.reasons {
		instruction += ` End with the sentence "The answer is (X)", where X is the letter of the right choice.`
	}
	question, gold, err := m.mmluQuestion(r, m.reasons)
	if err != nil {
		return nil, "", err
	}
	var list []message
	for _, e := range m.shown(r) {
		text, right, err := m.mmluQuestion(e, false)
		if err != nil {
			return nil, "", fmt.Errorf("worked example: %w", err)
		}
		list = append(list, user(text), assistant(right))
	}
	list = append(list, user(question))
	list[0].Text = instruction + "\n\n" + list[0].Text
	return list, gold, nil
}

func (m *maker) mmluQuestion(r record, reasons bool) (text, gold string, err error) {
	choices, err := r.list("choices")
	if err != nil {
		return "", "", err
	}
	right, err := r.chosen("answer", len(choices))
	if err != nil {
		return "", "", err
	}
	text = "Question: " + r.text("question") + "\n" + lettered(choices, ".")
	if reasons {
		text += stepByStep + "\n"
	}
	return text + "Answer:", " " + letter(right), nil
}

// mmluPro makes a prompt of MMLU-Pro: worked examples of the same subject, then the problem, all in one message. The
// answer that is asked for is a sentence, by which it is found among the reasons.
func (m *maker) mmluPro(r record) ([]message, string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "Answer multiple-choice questions about %s. One choice of each is right.", m.task)
	if m.reasons {
		b.WriteString(` Think step by step, and end with "the answer is (X)", where X is the letter of the right choice.`)
	} else {
		b.WriteString(` Answer with "the answer is (X)", where X is the letter of the right choice.`)
	}
	b.WriteString("\n\n")
	for _, e := range m.shown(r) {
		if err := proQuestion(&b, e); err != nil {
			return nil, "", fmt.Errorf("worked example: %w", err)
		}
		worked := strings.TrimPrefix(e.text("cot_content"), "A: ")
		if worked == "" {
			worked = "The answer is (" + e.text("answer") + ")."
		}
		b.WriteString("Answer: " + worked + "\n\n")
	}
	if err := proQuestion(&b, r); err != nil {
		return nil, "", err
	}
	b.WriteString("Answer:")
	if m.reasons {
		b.WriteString(" " + stepByStep)
	}
	return []message{user(b.String())}, strings.TrimSpace(r.text("answer")), nil
}

func proQuestion(b *strings.Builder, r record) error {
	options, err := r.list("options")
	if err != nil {
		return err
	}
	var choices []string
	for _, o := range options {
		if o != "N/A" {
			choices = append(choices, o)
		}
	}
	b.WriteString("Question:\n" + r.text("question") + "\nOptions:\n" + lettered(choices, "."))
	return nil
}

func (m *maker) aime(r record) ([]message, string, error) {
	var b strings.Builder
	shown := m.shown(r)
	if len(shown) > 0 {
		b.WriteString("Here are solved problems of a mathematics contest. Solve the last one in the same form.\n\n")
	}
	for _, e := range shown {
		b.WriteString("**Problem**: " + e.text("Problem") + "\n")
		if m.reasons {
			b.WriteString("**Solution**: " + e.text("Solution") + "\n")
		}
		b.WriteString("**Answer**: " + e.text("Answer") + "\n\n")
	}
	b.WriteString("**Problem**: " + r.text("Problem") + "\n**Answer**:\n\n")
	if m.reasons {
		b.WriteString(`Think step by step, and put the final answer in \boxed{}.`)
	} else {
		b.WriteString("Answer with the number alone.")
	}
	return []message{user(b.String())}, r.text("Answer"), nil
}

func (m *maker) hellaswag(r record) ([]message, string, error) {
	question, gold, err := swagQuestion(r)
	if err != nil || gold == "" {
		return nil, "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Choose the ending that follows a text about %q best.\n\n", r.text("activity_label"))
	for _, e := range m.shown(r) {
		text, right, err := swagQuestion(e)
		if err != nil {
			return nil, "", fmt.Errorf("worked example: %w", err)
		}
		b.WriteString(text + "Answer: " + right + "\n\n")
	}
	b.WriteString(question + "Answer:\n\nWrite one of the letters A, B, C and D, and nothing else.")
	return []message{user(b.String())}, gold, nil
}

// swagQuestion is the text of a row and the letter of its ending, "" if the row does not say it.
func swagQuestion(r record) (text, gold string, err error) {
	endings, err := r.list("endings")
	if err != nil {
		return "", "", err
	}
	if strings.TrimSpace(r.text("label")) != "" {
		right, err := r.chosen("label", len(endings))
		if err != nil {
			return "", "", err
		}
		gold = letter(right)
	}
	return r.text("ctx") + "\n" + lettered(endings, "."), gold, nil
}

func (m *maker) bigbench(r record) ([]message, string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "This is a task of the kind %s.\n\n", strings.ReplaceAll(m.task, "_", " "))
	for _, e := range m.shown(r) {
		b.WriteString("Q: " + e.text("input") + "\nA: " + e.text("target") + "\n\n")
	}
	b.WriteString("Q: " + r.text("input") + "\nA:")
	if m.reasons {
		b.WriteString(" " + stepByStep)
	}
	b.WriteString("\n\nWrite the answer alone, in the form that the question gives it")
	if len(m.examples) > 0 {
		b.WriteString(" and the examples have")
	}
	b.WriteString(".")
	return []message{user(b.String())}, r.text("target"), nil
}

// gpqa orders the answers as the SHA-256 of the question says, so that their letters are the same in every run.
func (m *maker) gpqa(r record) ([]message, string, error) {
	question := r.text("Question")
	answers := []string{r.text("Correct Answer"), r.text("Incorrect Answer 1"), r.text("Incorrect Answer 2"),
		r.text("Incorrect Answer 3")}
	order := gpqaOrder(question)
	choices, gold := make([]string, 4), ""
	for i, of := range order {
		choices[i] = answers[of]
		if of == 0 {
			gold = letter(i)
		}
	}
	text := "Think step by step about this multiple-choice question. The last line of your answer has the form " +
		"\"Answer: $LETTER\", where LETTER is one of A, B, C and D.\n\n" + question + "\n\n" + lettered(choices, ")")
	return []message{user(strings.TrimSuffix(text, "\n"))}, gold, nil
}

func gpqaOrder(question string) [4]int {
	sum := sha256.Sum256([]byte(question))
	order := [4]int{0, 1, 2, 3}
	NewMersenneTwister(uint64(binary.BigEndian.Uint32(sum[28:]))).Shuffle(4, func(i, j int) {
		order[i], order[j] = order[j], order[i]
	})
	return order
}

// Code is the gold answer of a problem whose answer is a program: what its tests need, as JSON.
type Code struct {
	StarterCode      string `json:"starter_code"`
	PublicTestCases  string `json:"public_test_cases"`
	PrivateTestCases string `json:"private_test_cases"`
	Metadata         string `json:"metadata"`
}

func (m *maker) code(r record) ([]message, string, error) {
	c := Code{r.text("starter_code"), r.text("public_test_cases"), r.text("private_test_cases"), r.text("metadata")}
	gold, err := json.Marshal(c)
	if err != nil {
		return nil, "", err
	}
	text := "Write a Python program that solves the problem below and passes all of its tests.\n\nQuestion: " +
		r.text("question_content") + "\n\n"
	if c.StarterCode != "" {
		text += "Use this code as the beginning of your solution, and give the whole of it in a fence like this:\n" +
			fence + "python\n" + c.StarterCode + "\n" + fence
	} else {
		text += "Read from the standard input, write the result to the standard output, and do nothing else with the " +
			"examples. Give the program in a fence like this:\n" + fence + "python\n\n" + fence
	}
	return []message{user(text)}, string(gold), nil
}
