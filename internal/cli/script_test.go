package cli_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"aiperf/internal/base/testkit"
	"aiperf/internal/cli"
	"aiperf/internal/cli/command"
	"aiperf/internal/watch/trust"
)

// TestMain lets the test binary be the program itself: started under the name "aiperf", it is aiperf.
func TestMain(m *testing.M) {
	// Nearly all of them wait for a process.
	testscript.Main(testkit.Parallel{M: m, Limit: 8}, map[string]func(){
		"aiperf": func() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

// alsoShort is the line of a transcript in which goroutines of this package meet: with -short, which the check with the
// race detector sets, only those run. What the others do is in the tests of the packages below.
const alsoShort = "\n# Also with -short.\n"

// transcripts are the files that TestScripts runs.
func transcripts(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("%d transcripts: %v", len(all), err)
	}
	if !testing.Short() {
		return all
	}
	return slices.DeleteFunc(all, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && !strings.Contains(string(text), alsoShort)
	})
}

// TestScripts runs the transcripts. Beside testscript's own commands they have:
//
//	mockserver VAR [flag…]   start "aiperf mock-server" and put its URL into VAR, its host
//	                         and port into VAR_HOST, its port into VAR_PORT
//	stopserver VAR           stop it and wait, so that its record is whole
//	address VAR              put a URL into VAR and its port into VAR_PORT at which nobody listens until the script
//	                         starts something there
//	exits CODE cmd [arg…]    like exec, with exactly this exit code
//	measures cmd [arg…]      like exec, and again while the program says that this machine was the bottleneck
//	show FILE path…          print members of the JSON documents of a file, one document a line
//	tree DIR                 print the files below a directory, sorted
//	[!] within DIR TEXT      some file below DIR holds TEXT
//	capacity STREAMS UNARY   remember this as what the machine was measured to carry; "capacity spoilt" spoils the file
//	warmingup VAR URL        a server before that of URL that answers the first requests of each path with 503
//	gone FILE MODEL          the server at the first loopback URL of a file, which lists a model, has ended
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files:               transcripts(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Values[serversKey{}] = map[string]*mockServer{}
			// No script reaches for the network, nor into the user's own cache.
			env.Setenv("HF_HUB_OFFLINE", "1")
			env.Setenv("HF_HOME", env.WorkDir+"/hf")
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"mockserver": cmdMockServer,
			"stopserver": cmdStopServer,
			"address":    cmdAddress,
			"exits":      cmdExits,
			"measures":   cmdMeasures,
			"show":       cmdShow,
			"lines":      cmdLines,
			"collector":  cmdCollector,
			"mlflow":     cmdMLflow,
			"warmingup":  cmdWarmingUp,
			"tree":       cmdTree,
			"within":     cmdWithin,
			"gone":       cmdGone,
			"capacity":   cmdCapacity,
		},
	})
}

type serversKey struct{}

func cmdMockServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: mockserver VAR [flag…]")
	}
	server, err := startMock(ts.MkAbs("."), args[1:]...)
	ts.Check(err)
	ts.Value(serversKey{}).(map[string]*mockServer)[args[0]] = server
	ts.Setenv(args[0], server.url)
	_, host, _ := strings.Cut(server.url, "://")
	ts.Setenv(args[0]+"_HOST", host)
	_, port, err := net.SplitHostPort(host)
	ts.Check(err)
	ts.Setenv(args[0]+"_PORT", port)
	ts.Defer(server.stop)
}

func cmdStopServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: stopserver VAR")
	}
	server := ts.Value(serversKey{}).(map[string]*mockServer)[args[0]]
	if server == nil {
		ts.Fatalf("there is no mock server %s", args[0])
	}
	server.stop()
}

func cmdAddress(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: address VAR")
	}
	address, release, err := testkit.Reserve()
	ts.Check(err)
	ts.Defer(release)
	ts.Setenv(args[0], "http://"+address)
	_, port, err := net.SplitHostPort(address)
	ts.Check(err)
	ts.Setenv(args[0]+"_PORT", port)
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE cmd [arg…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

func cmdMeasures(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: measures cmd [arg…]")
	}
	for end := time.Now().Add(patience); ; {
		err := ts.Exec(args[0], args[1:]...)
		busy := strings.Contains(ts.ReadFile("stdout"), "this machine was the bottleneck")
		if !busy || time.Now().After(end) {
			ts.Check(err)
			return
		}
	}
}

func cmdShow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: show FILE path…")
	}
	documents, err := readDocuments(ts.ReadFile(args[0]))
	ts.Check(err)
	for _, document := range documents {
		var values []string
		for _, path := range args[1:] {
			values = append(values, pick(document, path))
		}
		fmt.Fprintln(ts.Stdout(), strings.Join(values, " "))
	}
}

// cmdLines prints the first lines of files.
func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: lines COUNT FILE…")
	}
	count, err := strconv.Atoi(args[0])
	ts.Check(err)
	for _, name := range args[1:] {
		all := strings.SplitAfter(ts.ReadFile(name), "\n")
		fmt.Fprint(ts.Stdout(), strings.Join(all[:min(count, len(all))], ""))
	}
}

func cmdTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tree DIR")
	}
	root := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		fmt.Fprintln(ts.Stdout(), filepath.ToSlash(name))
		return err
	}))
}

func cmdWithin(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] within DIR TEXT")
	}
	var hit string
	looked := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		looked++
		if strings.Contains(string(content), args[1]) {
			hit = path
		}
		return err
	}))
	switch {
	case looked == 0:
		ts.Fatalf("there is no file in %s", args[0])
	case neg && hit != "":
		ts.Fatalf("%s holds %q", hit, args[1])
	case !neg && hit == "":
		ts.Fatalf("none of %d files in %s holds %q", looked, args[0], args[1])
	}
}

var loopbackURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// cmdGone knows the server by a model that it lists: once it is gone, a server of another test may get its port.
func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: gone FILE MODEL")
	}
	address := loopbackURL.FindString(ts.ReadFile(args[0]))
	if address == "" {
		ts.Fatalf("%s names no loopback URL", args[0])
	}
	reply, err := (&http.Client{Timeout: patience}).Get(address + "/v1/models")
	var opening *net.OpError
	if errors.As(err, &opening) && opening.Op == "dial" {
		return
	}
	ts.Check(err)
	defer reply.Body.Close()
	models, err := io.ReadAll(reply.Body)
	ts.Check(err)
	if strings.Contains(string(models), args[1]) {
		ts.Fatalf("the server at %s still answers", address)
	}
}

// cmdCapacity writes into a cache directory of the script's own, which it puts into the environment.
func cmdCapacity(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: capacity STREAMS UNARY, capacity spoilt")
	}
	dir, home := ts.MkAbs("cache"), ts.MkAbs("home")
	ts.Setenv("XDG_CACHE_HOME", dir)
	ts.Setenv("LocalAppData", dir)
	ts.Setenv("HOME", home)
	if runtime.GOOS == "darwin" {
		dir = filepath.Join(home, "Library", "Caches")
	}
	path := filepath.Join(dir, "aiperf", "selftest.json")
	if args[0] == "spoilt" {
		ts.Check(os.WriteFile(path, []byte("{"), 0o644))
		return
	}
	streams, err := strconv.Atoi(args[0])
	ts.Check(err)
	rate, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	ts.Setenv("GOMAXPROCS", strconv.Itoa(runtime.GOMAXPROCS(0)))
	ts.Check(trust.SaveCapacity(path, &trust.Capacity{
		Machine: trust.ThisMachine(command.Version), Measured: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC),
		Streams: streams, Pace: 50, UnaryRate: rate,
	}))
}
