// Command pack writes the data that packages of this folder embed, each in its own compact form:
//
//	go run ./internal/workload/pack vocabulary internal/workload/tokenizer/data/o200k_base.bin o200k_base.tiktoken
//	go run ./internal/workload/pack vocabulary internal/workload/tokenizer/data/cl100k_base.bin.z cl100k_base.tiktoken
//	go run ./internal/workload/pack corpus internal/workload/synthetic/corpus.bin PLAY.md…
package main

import (
	"fmt"
	"os"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 3 && args[0] == "vocabulary":
		err = packVocabulary(args[1], args[2])
	case len(args) >= 3 && args[0] == "corpus":
		err = packCorpus(args[1], args[2:])
	default:
		fmt.Fprintln(os.Stderr, "usage: pack vocabulary OUT.bin RANKS.tiktoken\n       pack corpus OUT.bin PLAY.md…")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}
