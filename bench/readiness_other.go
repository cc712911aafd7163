//go:build unix && !linux

package main

import "errors"

var errNoEpoll = errors.New("reading by readiness is measured on Linux only")

func ready([]string) error { return errNoEpoll }

func (b *bench) readiness() error { return errNoEpoll }
