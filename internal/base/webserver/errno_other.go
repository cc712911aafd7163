//go:build !unix

package webserver

func notADirectory(error) bool { return false }
