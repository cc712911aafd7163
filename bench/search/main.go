// Command search compares planners on servers in virtual time whose answer is known.
//
//	go run ./bench/search [-seeds 500] [-servers NAME,…] [-methods NAME,…]
//	go run ./bench/search -truth >bench/search/truth.csv
//	go run ./bench/search -serve real-knee -port 8000
//
// It holds inference servers in virtual time whose answer is known: the largest load under given limits.
//
// Vocabulary: a server is a table of figures ([Server]); a session is its life during one search ([Session]), with its
// clock, its speed, its cache; a probe is one load for a while ([Session.Probe]), which yields a record for each
// request in the order in which they end. The engine batches continuously: all replies of the batch advance at one
// speed, which falls with their number; prompts are worked on one after the other and take their share of that speed.
//
// Invariant: a session is a function of the server, the seed and the probes made so far.
//
// With -serve a server speaks enough of the OpenAI API for load generators: /v1/models, and chat and completions as
// streams with one token in each event and a last event with the usage. The length of a reply is the request's
// max_tokens.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
)

func main() {
	truth := flag.Bool("truth", false, "compute the answers of the servers, as truth.csv")
	seeds := flag.Int("seeds", 500, "searches of each method on each server")
	servers := flag.String("servers", "", "names of the servers (default: all)")
	names := flag.String("methods", "", "names of the methods (default: all)")
	all := flag.Bool("all", false, "a row for each server and method")
	serve := flag.String("serve", "", "serve one of the servers real-… over HTTP in real time")
	port := flag.Int("port", 0, "port to serve it on (0: a free one)")
	flag.Parse()
	if *serve != "" {
		if err := serveHTTP(*serve, *port); err != nil {
			fmt.Fprintln(os.Stderr, "search:", err)
			os.Exit(1)
		}
		return
	}
	if *truth {
		printTruths(split(*servers))
		return
	}
	if err := compare(*seeds, split(*servers), split(*names), *all); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// chosen reports whether a name is in the list, or the list is empty.
func chosen(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

func printTruths(only []string) {
	servers := slices.DeleteFunc(append(Servers(), Real()...),
		func(s Server) bool { return !chosen(only, s.Name) })
	answers := make([]Truth, len(servers))
	var wait sync.WaitGroup
	for i := range servers {
		wait.Go(func() { answers[i] = servers[i].Truth(300_000) })
	}
	wait.Wait()
	fmt.Println("server,load,late,other,client")
	for i, t := range answers {
		fmt.Printf("%s,%.5g,%.5g,%.5g,%g\n", servers[i].Name, t.Load, t.Late, t.Other, t.Client)
	}
}

func serveHTTP(name string, port int) error {
	for _, s := range Real() {
		if s.Name != name {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return err
		}
		fmt.Printf("listening on http://%s\n", l.Addr())
		return http.Serve(l, newHandler(s))
	}
	return fmt.Errorf("-serve: no server %q", name)
}
