package chat

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// maxLine bounds a message in bytes.
const maxLine = 1 << 20

// Quick sends the one message of the arguments.
func (s *Session) Quick(ctx context.Context) error { return s.Say(ctx, *s.Arguments.Quick, false) }

// Run holds the conversation until the input ends. A value on interrupts ends the current reply, or the conversation
// if no reply is awaited.
func (s *Session) Run(ctx context.Context, in io.Reader, interrupts <-chan struct{}) error {
	lines, fault := make(chan string), make(chan error, 1)
	done := make(chan struct{})
	defer close(done)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, maxLine)
		for scan.Scan() {
			select {
			case lines <- scan.Text():
			case <-done:
				return
			}
		}
		fault <- scan.Err()
	}()
	fmt.Fprintf(s.Out, "Talking to %s. A line is a message; Ctrl-D ends, Ctrl-C ends a reply.\n", s.Arguments.Model)
	for {
		fmt.Fprint(s.Out, "> ")
		s.flush()
		select {
		case <-interrupts:
			fmt.Fprintln(s.Out)
			return nil
		case <-ctx.Done():
			return nil
		case line, more := <-lines:
			if !more {
				fmt.Fprintln(s.Out)
				s.flush()
				if err := <-fault; err != nil {
					return fmt.Errorf("the input cannot be read: %w", err)
				}
				return nil
			}
			if strings.TrimSpace(line) == "" {
				continue
			}
			if err := s.sayUntil(ctx, line, interrupts); err != nil {
				fmt.Fprintln(s.Err, "request failed:", err)
			}
		}
	}
}

// sayUntil sends a message; an interrupt ends it.
func (s *Session) sayUntil(ctx context.Context, line string, interrupts <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-interrupts:
			cancel()
		case <-ctx.Done():
		}
	}()
	return s.Say(ctx, line, true)
}
