package document_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
)

func made(t *testing.T, path, format, content string) document.UserFile {
	t.Helper()
	f, err := document.Read("c.yaml", []byte("content: "+content))
	if err != nil {
		t.Fatal(err)
	}
	file, err := document.NewUserFile(path, format, f.Root.Get("content"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Files stay in the folder of the run, on every system, and a format fits its content.
func TestTrapPathsAndFormatsOfUserFiles(t *testing.T) {
	for path, want := range map[string]string{
		"../x": "'..'", "a/../b": "'..'", "/x": "is absolute", "": "is empty", " ": "is empty",
		"a\nb": "control characters",
		`a\b`:  "which Windows keeps", `C:/x`: "which Windows keeps", "x/": "a folder", ".": "a folder",
		"a/.": "a folder",
		"con": "device on Windows", "a/Nul.txt": "device on Windows", "a./b": "dot or a blank", "b ": "dot or a blank",
	} {
		if err := document.CheckUserPath(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want it to say %q", path, err, want)
		}
	}
	for _, path := range []string{"x", "./x", "a/b/c.txt", "..x", "é", "a b", "console"} {
		if err := document.CheckUserPath(path); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
	text, tree := document.Of("str"), document.Of(artifact.Object{{Key: "a", Value: 1}})
	for _, c := range []struct {
		format, want string
		content      *document.Node
	}{{"json", "text", text}, {"yaml", "text", text}, {"text", "a mapping", tree},
		{"toml", "json, yaml or text", tree}} {
		if _, err := document.NewUserFile("x", c.format, c.content); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to say %q", c.format, err, c.want)
		}
	}
	for content, want := range map[*document.Node]string{text: document.UserText, tree: document.UserJSON, document.Of(nil): document.UserJSON} {
		if f, err := document.NewUserFile("./x", "", content); err != nil || f.Format != want || f.Path != "x" {
			t.Errorf("%v: %+v %v, want format %s", content.Kind, f, err, want)
		}
	}
}

// What the run gives comes before variables of the same name.
func TestTrapRunNamesWinOverVariables(t *testing.T) {
	names := document.RunNames{
		Run:       map[string]any{"model": "real", "epoch": 5},
		Variables: artifact.Object{{Key: "model", Value: "x"}, {Key: "n", Value: int64(3)}},
	}
	got, err := document.RenderUserFiles([]document.UserFile{made(t, "a", "", `"{{ model }} {{ epoch }} {{ n + 1 }}\n"`)}, names)
	if err != nil || string(got[0].Data) != "real 5 4\n" {
		t.Errorf("%q %v", got, err)
	}
	if got := names.Shadowed(); len(got) != 1 || got[0] != "model" {
		t.Errorf("shadowed: %v", got)
	}
}

// Texts of a tree get the type that they read as if they are templates; keys and plain texts stay.
func TestTreesAreRenderedTextByText(t *testing.T) {
	names := document.RunNames{Variables: artifact.Object{
		{Key: "n", Value: int64(5)},
		{Key: "m", Value: artifact.Object{{Key: "b", Value: 1.0}, {Key: "a", Value: []any{"x", true}}}},
	}}
	const tree = `{"{{ n }}": "{{ n }}", plain: "5", f: 1.0, z: null, l: [a, "{{ n * 2 }}", "{{ m }}"],
  t: "{{ n > 4 }}", é: "{{ m.a[0] }}!"}`
	const want = `{
  "{{ n }}": 5,
  "plain": "5",
  "f": 1.0,
  "z": null,
  "l": [
    "a",
    10,
    "{'b': 1.0, 'a': ['x', True]}"
  ],
  "t": true,
  "é": "x!"
}`
	got, err := document.RenderUserFiles([]document.UserFile{made(t, "a", document.UserJSON, tree)}, names)
	if err != nil || string(got[0].Data) != want {
		t.Errorf("%v\n%s", err, got[0].Data)
	}
	got, err = document.RenderUserFiles([]document.UserFile{made(t, "a", document.YAML, tree)}, names)
	if err != nil {
		t.Fatal(err)
	}
	again, err := document.Read("a.yaml", got[0].Data)
	if err != nil {
		t.Fatalf("%v in\n%s", err, got[0].Data)
	}
	if n := again.Root.Get("plain"); n.Kind != document.Text {
		t.Errorf("the text 5 is %s in\n%s", n.Kind, got[0].Data)
	}
	if n := again.Root.Get("{{ n }}"); n.Kind != document.Int {
		t.Errorf("the number 5 is %s in\n%s", n.Kind, got[0].Data)
	}
}

// A name that nobody knows is an error that lists the known ones.
func TestTrapUndefinedNameInAUserFile(t *testing.T) {
	names := document.RunNames{Run: map[string]any{"model": "m"}, Variables: artifact.Object{{Key: "n", Value: int64(1)}}}
	for _, content := range []string{`"{{ missing }}"`, `{a: [{b: "{{ missing }}"}]}`, `"{{ model.x.y }}"`} {
		_, err := document.RenderUserFiles([]document.UserFile{made(t, "sub/a", "", content)}, names)
		if err == nil || !strings.Contains(err.Error(), "sub/a") || !strings.Contains(err.Error(), "model, n") {
			t.Errorf("%s: %v", content, err)
		}
	}
	_, err := document.RenderUserFiles([]document.UserFile{made(t, "a", "", `{a: [{b: "{{ missing }}"}]}`)}, names)
	if err == nil || !strings.Contains(err.Error(), "a[0].b") {
		t.Errorf("the error does not say where: %v", err)
	}
}

func TestWritingStaysInTheFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := document.WriteUserFiles(dir, []document.RenderedFile{{"a", []byte("1")}, {"sub/dir/b", []byte("2")}, {"a", []byte("3")}}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "3", "sub/dir/b": "2"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if runtime.GOOS != "windows" {
		if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(outside, "f"), filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"out/x", "link", "out"} {
			if err := document.WriteUserFiles(dir, []document.RenderedFile{{name, nil}}); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, name := range []string{"sub", "a/b"} { // a folder in the way of a file, a file in the way of a folder
		if err := document.WriteUserFiles(dir, []document.RenderedFile{{name, nil}}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside of the folder: %v %v", left, err)
	}
	parts, _ := filepath.Glob(filepath.Join(dir, "*.part"))
	if len(parts) > 0 {
		t.Errorf("left behind: %v", parts)
	}
}
