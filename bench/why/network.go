package main

import (
	"context"
	"net"
	"sync"
	"time"
)

// network is a slow way between client and server.
type network struct {
	// delay is that of each direction.
	delay time.Duration
	// bytes is the width of each direction of a connection, per second; 0 = any.
	bytes int
}

// parcel is what arrived at an instant, or the end.
type parcel struct {
	data []byte
	due  time.Time
}

// through opens a port that forwards connections to the address over the network until ctx ends, and returns its own.
func (n *network) through(ctx context.Context, address string) (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	context.AfterFunc(ctx, func() { ln.Close() })
	go func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			go n.connect(ctx, near, address)
		}
	}()
	return ln.Addr().String(), nil
}

// connect forwards a connection. Its other end is reached after a round trip, as by a handshake.
func (n *network) connect(ctx context.Context, near net.Conn, address string) {
	defer near.Close()
	time.Sleep(2 * n.delay)
	far, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer far.Close()
	stop := context.AfterFunc(ctx, func() { near.Close(); far.Close() })
	defer stop()
	var both sync.WaitGroup
	both.Go(func() { n.carry(near, far) })
	both.Go(func() { n.carry(far, near) })
	both.Wait()
}

// carry copies from one connection to another, each byte after the delay and no faster than the network is wide.
func (n *network) carry(from, to net.Conn) {
	way := make(chan parcel, 1<<12)
	go func() {
		defer close(way)
		for {
			buffer := make([]byte, 16<<10)
			count, err := from.Read(buffer)
			if count > 0 {
				way <- parcel{buffer[:count], time.Now().Add(n.delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	free := time.Now()
	for p := range way {
		if n.bytes > 0 {
			if free.Before(p.due) {
				free = p.due
			}
			free = free.Add(time.Duration(len(p.data)) * time.Second / time.Duration(n.bytes))
			p.due = free
		}
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			from.Close()
		}
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}
