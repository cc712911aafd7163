package parse

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"aiperf/internal/config/env"
	"aiperf/internal/config/option"
)

// maxKeyFile bounds the file of a key in bytes.
const maxKeyFile = 64 << 10

// Key is an API key and where it comes from.
type Key struct {
	Value string
	// Variable is the environment variable that holds it; empty for a flag.
	Variable string
	// Withheld reports that the key of OPENAI_API_KEY is not used: an address lies elsewhere and is not encrypted.
	Withheld bool
}

// FindKey is the API key for requests to some addresses: that of the flag, else AIPERF_API_KEY, else OPENAI_API_KEY.
// The last one is meant for other programs, too: it goes only to https addresses and to this machine.
func FindKey(flag string, urls []string, lookup env.Lookup) (Key, error) {
	if flag != "" {
		value, err := readKey(flag)
		return Key{Value: value}, err
	}
	if lookup == nil {
		return Key{}, nil
	}
	for _, variable := range []string{option.EnvPrefix + env.OwnKeyVariable, env.OpenAIKeyVariable} {
		value, _ := lookup(variable)
		value = strings.TrimSpace(value)
		if value == "" {
			continue
		}
		key := Key{Value: value, Variable: variable}
		if strings.ContainsAny(value, "\r\n\x00") {
			return key, fmt.Errorf("environment variable %s: a key is one line", variable)
		}
		if variable == env.OpenAIKeyVariable {
			for _, u := range urls {
				if !Confidential(u) {
					return Key{Variable: variable, Withheld: true}, nil
				}
			}
		}
		return key, nil
	}
	return Key{}, nil
}

// readKey is the key that --api-key gives: @FILE is what the file holds, @@KEY is a key that begins with @. Its errors
// repeat no key.
func readKey(flag string) (string, error) {
	path, isFile := strings.CutPrefix(flag, "@")
	switch {
	case !isFile:
		return flag, nil
	case strings.HasPrefix(path, "@"):
		return path, nil
	case path == "":
		return "", errors.New("@ needs the name of a file: --api-key @FILE")
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the key cannot be read: %w; a key that begins with @ is written @@…", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	key := strings.TrimSpace(strings.TrimPrefix(string(text), "\uFEFF"))
	switch {
	case err != nil:
		return "", fmt.Errorf("the key cannot be read: %w", err)
	case len(text) > maxKeyFile:
		return "", fmt.Errorf("%s is too large for a key: more than %d bytes", path, maxKeyFile)
	case key == "":
		return "", fmt.Errorf("%s is empty; it must contain the key", path)
	case strings.ContainsAny(key, "\r\n\x00"):
		return "", fmt.Errorf("%s contains several lines; it must contain only the key", path)
	}
	return key, nil
}
