package petal

/*
#include "keys.h"

#cgo noescape petal_go_router_insert
#cgo nocallback petal_go_router_insert
#cgo noescape petal_go_router_remove
#cgo nocallback petal_go_router_remove
#cgo noescape petal_go_router_get_route
#cgo nocallback petal_go_router_get_route
#cgo noescape petal_go_router_walk
#cgo nocallback petal_go_router_walk
#cgo noescape petal_go_router_contains
#cgo nocallback petal_go_router_contains
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Router is the router of one node, which finds keys in a network by attenuated Bloom filters. The node has its own
// keys, and an edge for each neighbour. [Router.Advertise] makes a message for a neighbour, [Router.Receive] takes a
// neighbour's message, and [Router.Route] says where a query goes. A router has no network: you carry messages and
// queries. A router does not know who sent a message: take a channel that authenticates the neighbour. Routers are
// experimental: methods may still change. Pure Go does not read them.
//
// Methods that only read the router may run in many goroutines at once. [Router.Close] and methods that change the
// router need it to themselves.
type Router struct {
	byPointer
	owner *held[*C.petal_router]
}

// NewRouter makes an empty router of the node with this number, which tells the nodes of a network apart. The Capacity
// of the spec is the number of keys of one node, and FalsePositiveRate is that of the last level of one edge. The Kind
// is "router"; an empty one stands for it if no parameter is set.
func NewRouter(spec Spec, node uint64) (*Router, error) {
	raw, err := spec.raw()
	if err != nil {
		return nil, err
	}
	return routerOf(made("petal.NewRouter", freeRouter, func(handle **C.petal_router, failure *C.petal_error) {
		C.petal_router_new(&raw, C.uint64_t(node), handle, failure)
	}))
}

// Node returns the number of the node.
func (r *Router) Node() uint64 {
	node := C.petal_router_get_node(r.raw())
	runtime.KeepAlive(r)
	return uint64(node)
}

// The batch calls of a router, each without keys.
func insertInRouterNone(r *Router, none Keys) error   { return r.InsertBatch(none, nil) }
func removeFromRouterNone(r *Router, none Keys) error { return r.RemoveBatch(none, nil) }

// Insert inserts a byte key, which this node has from now on. Changes the router.
func (r *Router) Insert(key []byte) error {
	status := C.petal_go_router_insert(r.toChange(), bytesOf(key), C.size_t(len(key)))
	runtime.KeepAlive(r)
	return explained("petal.Router.Insert", status, r, insertInRouterNone, StringKeys(nil))
}

// InsertBatch inserts many keys in order. answers may be nil; it only tells how many keys were inserted, the first
// answers.Done, and has no Bools. Changes the router.
func (r *Router) InsertBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Router.InsertBatch", C.PETAL_GO_ROUTER_INSERT, unsafe.Pointer(r.toChange()), keys, answers)
	runtime.KeepAlive(r)
	return err
}

// Remove removes a byte key that was inserted before. A key that the node certainly did not have changes nothing. Do
// not remove a key that was never inserted: other keys may be lost. Returns [ErrUnsupported] with counter_bits = 1.
// Changes the router.
func (r *Router) Remove(key []byte) error {
	status := C.petal_go_router_remove(r.toChange(), bytesOf(key), C.size_t(len(key)))
	runtime.KeepAlive(r)
	return explained("petal.Router.Remove", status, r, removeFromRouterNone, StringKeys(nil))
}

// RemoveBatch removes many keys in order, as [Router.InsertBatch] inserts them. Changes the router.
func (r *Router) RemoveBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Router.RemoveBatch", C.PETAL_GO_ROUTER_REMOVE, unsafe.Pointer(r.toChange()), keys, answers)
	runtime.KeepAlive(r)
	return err
}

// Capabilities returns what this router can do now: a router that is open for reading can do less than its kind.
func (r *Router) Capabilities() Capabilities {
	capabilities := C.petal_router_capabilities(r.raw())
	runtime.KeepAlive(r)
	return Capabilities(capabilities)
}

// Contains tells whether this node itself may have a byte key. Any failure is true.
func (r *Router) Contains(key []byte) bool {
	found := C.petal_go_router_contains(r.raw(), bytesOf(key), C.size_t(len(key)))
	runtime.KeepAlive(r)
	return bool(found)
}
