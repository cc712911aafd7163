//go:build unix

package driver

import "github.com/ebitengine/purego"

func load(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func find(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }
