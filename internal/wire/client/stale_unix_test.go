//go:build unix

package client

func canSeeStale() bool { return true }
