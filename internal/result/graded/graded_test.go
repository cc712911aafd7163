package graded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	const one = `{"conversation_id":"a","task":"t","timestamp_ns":5,"passed":true,"unparsed":true,"expected":"1","actual":"2","more":[]}` + "\n"
	for _, c := range []struct {
		name, text string
		answers    int
		cut        bool
		fails      string
	}{
		{"whole", one + one, 2, false, ""},
		{"empty", "", 0, false, ""},
		{"cut", one + one[:len(one)/2], 1, true, ""},
		{"broken in between", one + "{\n" + one, 1, false, ":2: not a graded answer"},
		{"another file", "task,correct\n1,2\n", 0, false, ":1: not a graded answer"},
	} {
		path := filepath.Join(t.TempDir(), "accuracy_export.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		cut, err := Read(path, func(a *Answer) {
			if n++; *a != (Answer{"a", "t", 5, true, true, "1", "2"}) {
				t.Errorf("%s: %+v", c.name, a)
			}
		})
		if n != c.answers || cut != c.cut || (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %d answers, cut %t, %v", c.name, n, cut, err)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none"), nil); !os.IsNotExist(err) {
		t.Error(err)
	}
}
