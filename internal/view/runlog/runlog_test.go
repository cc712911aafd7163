package runlog

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
)

func at(ms int) time.Time { return time.Date(2026, 7, 27, 21, 4, 5, ms*1e6, time.UTC) }

// logged writes one entry at a fixed instant and returns what the console and the file got.
func logged(t *testing.T, o Options, level slog.Level, component, message string, attrs ...slog.Attr) (console,
	file string) {
	t.Helper()
	var out bytes.Buffer
	o.Console, o.Location = &out, time.UTC
	l := New(o)
	path := filepath.Join(t.TempDir(), "logs", "aiperf.log")
	if err := l.OpenFile(path); err != nil {
		t.Fatal(err)
	}
	r := slog.NewRecord(at(7), level, message, 0)
	r.AddAttrs(attrs...)
	h := l.Logger(component).Handler()
	if h.Enabled(t.Context(), level) {
		if err := h.Handle(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), string(data)
}

func TestLineFormats(t *testing.T) {
	for _, c := range []struct {
		level slog.Level
		name  string
	}{
		{LevelTrace, "TRACE"}, {LevelDebug, "DEBUG"}, {LevelInfo, "INFO"}, {LevelNotice, "NOTICE"},
		{LevelWarning, "WARNING"},
		{LevelSuccess, "SUCCESS"}, {LevelError, "ERROR"}, {LevelCritical, "CRITICAL"},
	} {
		console, file := logged(t, Options{Level: LevelTrace}, c.level, "load", "phase started")
		if want := fmt.Sprintf("21:04:05.007 %-8s phase started\n", c.name); console != want {
			t.Errorf("console line %q, want %q", console, want)
		}
		if want := "2026-07-27 21:04:05.007 - load - " + c.name + " - phase started\n"; file != want {
			t.Errorf("file line %q, want %q", file, want)
		}
	}
}

func TestConsoleLineNamesItsSource(t *testing.T) {
	var out bytes.Buffer
	l := New(Options{Console: &out, Level: LevelDebug})
	_, _, line, _ := runtime.Caller(0)
	l.Logger("").Info("hello")
	want := regexp.MustCompile(fmt.Sprintf(`^\d\d:\d\d:\d\d\.\d{3} INFO     hello \(runlog_test\.go:%d\)\n$`, line+1))
	if !want.MatchString(out.String()) {
		t.Errorf("got %q", out.String())
	}
	out.Reset()
	New(Options{Console: &out}).Logger("").Info("hello")
	if want := regexp.MustCompile(`^[0-9:.]{12} INFO     hello\n$`); !want.MatchString(out.String()) {
		t.Errorf("at INFO: %q", out.String())
	}
}

func TestOneThresholdForBothSides(t *testing.T) {
	console, file := logged(t, Options{Level: LevelWarning}, LevelNotice, "x", "quiet")
	if console != "" || file != "" {
		t.Errorf("got %q and %q", console, file)
	}
	if console, file = logged(t, Options{Level: LevelWarning}, LevelSuccess, "x", "loud"); console == "" || file == "" {
		t.Errorf("got %q and %q", console, file)
	}
}

func TestABriefConsoleHasWarningsOnly(t *testing.T) {
	console, file := logged(t, Options{Brief: true}, LevelNotice, "x", "quiet")
	if console != "" || file == "" {
		t.Errorf("got %q and %q", console, file)
	}
	if console, file = logged(t, Options{Brief: true}, LevelWarning, "x", "loud"); console == "" || file == "" {
		t.Errorf("got %q and %q", console, file)
	}
}

func TestAttributesFollowTheMessage(t *testing.T) {
	_, file := logged(t, Options{}, LevelInfo, "", "done", slog.Int("n", 3), slog.String("path", "a b"),
		slog.Group("g", slog.Bool("ok", true)), slog.String(LoggerKey, "export"))
	if want := "2026-07-27 21:04:05.007 - export - INFO - done n=3 path=\"a b\" g.ok=true\n"; file != want {
		t.Errorf("got %q, want %q", file, want)
	}
	var out bytes.Buffer
	log := New(Options{Console: &out}).Logger("a").With("k", 1).WithGroup("g").With("l", 2)
	log.Info("m", "n", 3)
	if !strings.Contains(out.String(), "m k=1 g.l=2 g.n=3\n") {
		t.Errorf("got %q", out.String())
	}
}

func TestTrapSecretsReachNeitherSide(t *testing.T) {
	o := Options{Redactor: artifact.NewRedactor("sk-secret-1")}
	console, file := logged(t, o, LevelError, "", "sent sk-secret-1 to http://u:p@h/",
		slog.Any("err", errors.New("api_key=abc token=def")))
	for _, text := range []string{console, file} {
		for _, secret := range []string{"sk-secret-1", "u:p", "abc", "def"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s in %q", secret, text)
			}
		}
		if strings.Count(text, artifact.Redacted) != 4 {
			t.Errorf("got %q", text)
		}
	}
}

func TestForeignTextCannotForgeLines(t *testing.T) {
	console, file := logged(t, Options{}, LevelError, "",
		"a\r\n2026-01-01 00:00:00.000 - x - INFO - fake\n\x1b[2J\u202e\u0085\xff\tz\n\n")
	want := "a\n    2026-01-01 00:00:00.000 - x - INFO - fake\n    \\x1b[2J\\u202e\\u0085\uFFFD z\n"
	if !strings.HasSuffix(console, " "+want) || !strings.HasSuffix(file, " - "+want) {
		t.Errorf("got %q and %q", console, file)
	}
}

func TestColourOnlyOnATerminal(t *testing.T) {
	for _, c := range []struct {
		terminal, color, want bool
	}{{true, true, true}, {true, false, false}, {false, true, false}} {
		console, file := logged(t, Options{Terminal: c.terminal, Color: c.color}, LevelError, "", "x")
		if got := strings.Contains(console, "\x1b["); got != c.want || strings.Contains(file, "\x1b") {
			t.Errorf("%+v: console %q, file %q", c, console, file)
		}
		if c.want && console != "21:04:05.007 \x1b[31mERROR   \x1b[0m x\n" {
			t.Errorf("got %q", console)
		}
	}
}

func TestTerminalTruncatesAndWraps(t *testing.T) {
	message := strings.Repeat("é", 2001)
	console, file := logged(t, Options{Terminal: true}, LevelInfo, "", message)
	if want := "21:04:05.007 INFO     " + message[:4000] + "…\n"; console != want {
		t.Errorf("got %d characters", len([]rune(console)))
	}
	if !strings.HasSuffix(file, " "+message+"\n") {
		t.Error("the file's message was cut")
	}
	if console, _ = logged(t, Options{}, LevelInfo, "", message); !strings.HasSuffix(console, " "+message+"\n") {
		t.Error("a message was cut without a terminal")
	}
	console, _ = logged(t, Options{Terminal: true, Columns: 30}, LevelInfo, "", "12345678abcdefgh")
	if want := "21:04:05.007 INFO     12345678\nabcdefgh\n"; console != want {
		t.Errorf("got %q, want %q", console, want)
	}
	console, _ = logged(t, Options{Terminal: true, Columns: 90}, LevelInfo, "", strings.Repeat("x", 70))
	if want := "21:04:05.007 INFO     " + strings.Repeat("x", 68) + "\n" + strings.Repeat(" ", 22) +
		"xx\n"; console != want {
		t.Errorf("got %q, want %q", console, want)
	}
}

func TestLinesOfATerminalBreakBeforeWords(t *testing.T) {
	for message, want := range map[string]string{
		"reading the dataset now":      "reading\nthe dataset now\n",
		"one\ntwo three four and five": "one\n    two three four and five\n",
		"a":                            "a\n",
	} {
		console, _ := logged(t, Options{Terminal: true, Columns: 30}, LevelInfo, "", message)
		if want := "21:04:05.007 INFO     " + want; console != want {
			t.Errorf("got %q, want %q", console, want)
		}
	}
}

func TestLinesBeforeTheFileIsOpenAreNotLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "aiperf.log")
	for _, run := range []string{"first", "second"} {
		l := New(Options{})
		l.Logger("a").Info(run + " early")
		if err := l.OpenFile(path); err != nil {
			t.Fatal(err)
		}
		l.Logger("a").Info(run + " late")
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l.Logger("a").Info("after the end")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var messages []string
	for line := range strings.Lines(string(data)) {
		messages = append(messages, line[strings.LastIndex(line, " - ")+3:])
	}
	if got := strings.Join(messages, ""); got != "first early\nfirst late\nsecond early\nsecond late\n" {
		t.Errorf("got %q", got)
	}
}

func TestUnwritableDirectoryIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := New(Options{}).OpenFile(filepath.Join(file, "aiperf.log")); err == nil ||
		!strings.Contains(err.Error(), "log directory") {
		t.Errorf("error is %v", err)
	}
}

type fullDisk struct{ writes int }

func (f *fullDisk) Write([]byte) (int, error) { f.writes++; return 0, errors.New("no space left") }
func (f *fullDisk) Close() error              { return nil }

func TestFullDiskDoesNotStopTheConsole(t *testing.T) {
	var out bytes.Buffer
	disk := &fullDisk{}
	l := New(Options{Console: &out})
	l.file = disk
	log := l.Logger("a")
	log.Info("one")
	log.Info("two")
	if strings.Count(out.String(), "\n") != 2 || disk.writes != 1 || l.Err() == nil {
		t.Errorf("console %q, %d writes, error %v", out.String(), disk.writes, l.Err())
	}
}

func TestSetConsole(t *testing.T) {
	var first, second bytes.Buffer
	l := New(Options{Console: &first})
	log := l.Logger("a")
	log.Info("one")
	if before := l.SetConsole(&second); before != &first {
		t.Error("the former writer was not returned")
	}
	log.Info("two")
	l.SetConsole(nil)
	log.Info("three")
	if strings.Count(first.String(), "\n") != 1 || !strings.Contains(second.String(), "two") ||
		strings.Contains(second.String(), "three") {
		t.Errorf("got %q and %q", first.String(), second.String())
	}
}

func TestConcurrentLinesStayWhole(t *testing.T) {
	var out bytes.Buffer
	l := New(Options{Console: &out})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				l.Logger("a").Info("message")
			}
		})
	}
	wg.Wait()
	whole := regexp.MustCompile(`^[0-9:.]{12} INFO     message\n$`)
	n := 0
	for line := range strings.Lines(out.String()) {
		n++
		if !whole.MatchString(line) {
			t.Fatalf("broken line %q", line)
		}
	}
	if n != 400 {
		t.Errorf("%d lines", n)
	}
}

func TestParseLevel(t *testing.T) {
	for _, l := range levels {
		if got, ok := ParseLevel(strings.ToLower(l.name)); !ok || got != l.level || LevelName(got) != l.name {
			t.Errorf("%s: %v %v", l.name, got, ok)
		}
	}
	if _, ok := ParseLevel("loud"); ok {
		t.Error("an unknown level was found")
	}
	for level, want := range map[slog.Level]string{-100: "TRACE", -5: "TRACE", 1: "INFO", 5: "WARNING",
		99: "CRITICAL"} {
		if got := LevelName(level); got != want {
			t.Errorf("%d is %s, want %s", level, got, want)
		}
	}
}
