//go:build !linux && !darwin && !windows

package capacity

func systemFacts() (model, kernel string) { return "", "" }
