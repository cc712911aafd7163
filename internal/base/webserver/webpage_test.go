package webserver_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"aiperf/internal/base/webpage"
)

func TestTheChartLibraryIsTheOneThatIsNamed(t *testing.T) {
	sums, err := os.Open("../webpage/assets/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	defer sums.Close()
	n := 0
	for lines := bufio.NewScanner(sums); lines.Scan(); n++ {
		want, name, _ := strings.Cut(lines.Text(), "  ")
		if sum := sha256.Sum256([]byte(webpage.Asset(name))); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is not what SHA256SUMS says; assets/fetch.sh fetches it anew", name)
		}
	}
	if n != 3 {
		t.Errorf("%d files", n)
	}
	if !strings.Contains(webpage.Asset("uPlot.iife.min.js"), "(v1.6.32)") {
		t.Error("another version")
	}
}

// A page has the parts that it names, and its policy allows what stands in it.
func TestAPageHasItsPartsAlone(t *testing.T) {
	files := fstest.MapFS{"p.html": {Data: []byte(`{{define "main"}}<p>{{.Text}}</p>{{end}}`)}}
	for name, c := range map[string]struct {
		content          webpage.Content
		scripts, library bool
	}{
		"text":     {webpage.Content{}, false, false},
		"a script": {webpage.Content{Script: "  finished();\n", Parts: webpage.Controls, Data: []string{"</script>"}}, true, false},
		"charts":   {webpage.Content{Script: "  finished();\n", Parts: webpage.Charts | webpage.Points}, true, true},
	} {
		view := struct {
			webpage.Frame
			Text string
		}{Text: "<b>"}
		if err := view.Contain(c.content); err != nil {
			t.Fatal(err)
		}
		view.Title = "A page"
		var out bytes.Buffer
		if err := webpage.Execute(&out, files, "p.html", nil, &view); err != nil {
			t.Fatal(err)
		}
		page := out.String()
		for text, want := range map[string]bool{"<h1>A page</h1>": true, "<p>&lt;b&gt;</p>": true, `id="theme"`: c.scripts,
			`id="data"`: c.scripts, "uPlot=": c.library, "MIT licence": c.library, "function circle": c.library} {
			if strings.Contains(page, text) != want {
				t.Errorf("%s: %s: %t", name, text, !want)
			}
		}
		for _, element := range regexp.MustCompile(`(?s)<(?:style|script)>(.*?)</`).FindAllStringSubmatch(page, -1) {
			if !strings.Contains(view.Header(), webpage.Source(element[1])) {
				t.Errorf("%s: the policy does not allow %.40s", name, element[1])
			}
		}
		bar := webpage.Within([]byte(page), &webpage.Navigation{Here: "<i>"}, "dark")
		if !bytes.Contains(bar, []byte("&lt;i&gt;</span></nav><header>")) || !bytes.Contains(bar, []byte(`data-theme="dark"`)) {
			t.Errorf("%s: no bar or theme", name)
		}
	}
}
