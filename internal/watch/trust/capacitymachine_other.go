//go:build !linux && !darwin && !windows

package trust

func systemFacts() (model, kernel string) { return "", "" }
