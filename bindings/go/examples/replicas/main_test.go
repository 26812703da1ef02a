package main

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/petal-filter/petal/bindings/go"
)

func TestReplicasBecomeEqual(t *testing.T) {
	for _, s := range []settings{{5000, 30, 4}, {300, 2000, 3}, {5000, 0, 1}} {
		var out strings.Builder
		if err := run(s, &out); err != nil {
			t.Error(s, err)
		}
		t.Logf("%v\n%s", s, out.String())
	}
}

// Replicas with other keys cannot compare their hashes, and both get an error that says so.
func TestReplicasWithOtherKeysAreRefused(t *testing.T) {
	near, far := net.Pipe()
	answered := make(chan error)
	synchronize := func(key byte, conn net.Conn, role petal.SessionRole) error {
		r, err := newReplica(petal.Spec{Kind: "riblt", Capacity: 100, Hash: petal.SipHash13, Secret: [16]byte{key}})
		if err != nil {
			return err
		}
		defer r.sketch.Close()
		_, _, err = r.synchronize(newLink(conn), role)
		return err
	}
	go func() { answered <- synchronize(1, far, petal.SessionRoleResponder) }()
	ours, theirs := synchronize(2, near, petal.SessionRoleInitiator), <-answered
	if !errors.Is(ours, petal.ErrIncompatible) || !errors.Is(theirs, petal.ErrIncompatible) {
		t.Error(ours, theirs)
	}
}
