package petal

// #include "keys.h"
import "C"

import (
	"runtime"
	"unsafe"

	"github.com/petal-filter/petal/bindings/go/internal/texts"
)

// RouterReceived says what became of a message that a router took.
type RouterReceived uint32

const (
	// RouterReceivedChanged says that the levels of the edge changed: other neighbours may have to hear of it.
	RouterReceivedChanged RouterReceived = C.PETAL_ROUTER_RECEIVED_CHANGED
	// RouterReceivedUnchanged says that the levels of the edge are what they were.
	RouterReceivedUnchanged RouterReceived = C.PETAL_ROUTER_RECEIVED_UNCHANGED
	// RouterReceivedNeedsAll says that the message tells what changed since a message that did not come. The edge is as it
	// was: ask the neighbour for [Router.Advertise].
	RouterReceivedNeedsAll RouterReceived = C.PETAL_ROUTER_RECEIVED_NEEDS_ALL
)

// RouterRouteKind says where a query goes.
type RouterRouteKind uint32

const (
	// RouterRouteHere says that this node itself may have the key.
	RouterRouteHere RouterRouteKind = C.PETAL_ROUTER_ROUTE_HERE
	// RouterRouteEdge says that the query goes over the edge to a neighbour.
	RouterRouteEdge RouterRouteKind = C.PETAL_ROUTER_ROUTE_EDGE
	// RouterRouteBack says that the query goes back to the neighbour from which it came.
	RouterRouteBack RouterRouteKind = C.PETAL_ROUTER_ROUTE_BACK
	// RouterRouteFallBack says that the query has to use another way to find the key, such as a distributed hash table.
	RouterRouteFallBack RouterRouteKind = C.PETAL_ROUTER_ROUTE_FALL_BACK
)

var (
	receivedNames = []string{RouterReceivedChanged: "changed", RouterReceivedUnchanged: "unchanged",
		RouterReceivedNeedsAll: "needs_all"}
	routeKindNames = []string{RouterRouteHere: "here", RouterRouteEdge: "edge", RouterRouteBack: "back",
		RouterRouteFallBack: "fall_back"}
)

// String returns the name of the outcome.
func (r RouterReceived) String() string { return texts.Name(receivedNames, "received", uint32(r)) }

// String returns the name of the kind.
func (k RouterRouteKind) String() string { return texts.Name(routeKindNames, "route", uint32(k)) }

// RouterRoute says where a query goes.
type RouterRoute struct {
	Kind RouterRouteKind
	// Level is the least level that has the key, for [RouterRouteEdge]: 1 is the neighbour itself.
	Level uint32
	// Neighbour is the neighbour, for [RouterRouteEdge] and [RouterRouteBack].
	Neighbour uint64
}

// RouterWalkState is the memory of one query on its way. It has no pointers, and travels with the query. A query begins
// with all fields 0 but HopsLeft.
type RouterWalkState struct {
	// HopsLeft is how many hops the query may still make.
	HopsLeft uint32
	// Visited is how many nodes the query has visited, at most 64.
	Visited uint32
	// Depth is how many nodes are on the way back to where the query began.
	Depth uint32
	// Reserved is 0.
	Reserved uint32
	// Nodes has the nodes that were visited, in order.
	Nodes [64]uint64
	// Way is the way back: places in Nodes, the last being the node where the query is.
	Way [64]uint8
}

// RouterEdge is an edge to a neighbour.
type RouterEdge struct {
	// Neighbour is the number of the neighbour's node.
	Neighbour uint64
	// Link is the number that both ends give to their connection.
	Link uint64
	// Weight breaks ties: of two edges that are otherwise equal, a query takes the one with the greater weight.
	Weight float64
	// Sent is the number of the last message to the neighbour; 0 if there was none.
	Sent uint64
	// Received is the number of the last message from the neighbour; 0 if there was none.
	Received uint64
	// Fill is the share of set bits of each level that came from the neighbour.
	Fill []float64
	// Ignored says which levels are fuller than max_fill, and so neither asked nor passed on: bit 0 is the first level.
	Ignored uint32
}

// RouterLevelStatistics has the rates of one level.
type RouterLevelStatistics struct {
	// ExpectedKeys is the expected number of keys at this level of one edge, by the capacity and fan_out of the spec; 0
	// without a capacity.
	ExpectedKeys float64
	// ExpectedFill is the share of bits that this many keys set.
	ExpectedFill float64
	// ExpectedRate is the probability that this level of one edge, with this many keys, seems to have an absent key.
	ExpectedRate float64
	// MeanFill is the mean share of set bits over the edges that had a message; 0 if none had one.
	MeanFill float64
	// GreatestFill is the greatest share of set bits over these edges.
	GreatestFill float64
	// FalseRouteRate is the probability that some edge seems to have an absent key at this level.
	FalseRouteRate float64
}

// RouterStatistics says how often a router misleads queries.
type RouterStatistics struct {
	// Levels has the rates of each level; the first has the neighbours themselves.
	Levels []RouterLevelStatistics
	// IsOverfull says that the fill of the last level is above 0.3 over some edge: make the levels larger, or fewer.
	IsOverfull bool
	// Ignored is how many levels of edges are fuller than max_fill, and so ignored.
	Ignored uint64
	// OwnFill is the share of bits that the node's own keys set.
	OwnFill float64
	// FalseRouteRate is the probability that a query for a key that no node has goes over some edge.
	FalseRouteRate float64
}

// SetLevelWeights sets the weight of each level, the first level first. All weights are 0 before. Among edges that have
// a key at the same least level, a query takes the one with the greatest sum of the weights of all levels that have the
// key. Changes the router.
func (r *Router) SetLevelWeights(weights []float64) error {
	return called("petal.Router.SetLevelWeights", func(failure *C.petal_error) {
		var none C.double
		first := &none
		if len(weights) > 0 {
			first = (*C.double)(unsafe.SliceData(weights))
		}
		C.petal_router_set_level_weights(r.toChange(), first, C.size_t(len(weights)), failure)
	})
}

// Neighbours returns the numbers of all neighbours.
func (r *Router) Neighbours() ([]uint64, error) {
	const op = "petal.Router.Neighbours"
	count, err := answered(op, func(count *C.size_t, failure *C.petal_error) {
		C.petal_router_get_neighbours(r.raw(), nil, 0, count, failure)
	})
	if err != nil || count == 0 {
		return nil, err
	}
	all := make([]uint64, count)
	err = called(op, func(failure *C.petal_error) {
		C.petal_router_get_neighbours(r.raw(), (*C.uint64_t)(unsafe.SliceData(all)), count, &count, failure)
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Edge describes the edge to a neighbour.
func (r *Router) Edge(neighbour uint64) (RouterEdge, error) {
	raw := C.petal_router_edge{struct_size: C.size_t(unsafe.Sizeof(C.petal_router_edge{}))}
	return converted("petal.Router.Edge", raw, edgeOf, func(raw *C.petal_router_edge, failure *C.petal_error) {
		C.petal_router_get_edge(r.raw(), C.uint64_t(neighbour), raw, failure)
	})
}

func edgeOf(raw *C.petal_router_edge) RouterEdge {
	edge := RouterEdge{
		Neighbour: uint64(raw.neighbour),
		Link:      uint64(raw.link),
		Weight:    float64(raw.weight),
		Sent:      uint64(raw.sent),
		Received:  uint64(raw.received),
		Ignored:   uint32(raw.ignored),
	}
	for _, fill := range raw.fill[:raw.levels] {
		edge.Fill = append(edge.Fill, float64(fill))
	}
	return edge
}

// Advertise returns a message with all levels for a neighbour: the keys of this node, and what came in over all other
// edges, one level deeper. Changes the router, which remembers what it sent.
func (r *Router) Advertise(neighbour uint64) ([]byte, error) {
	return r.send("petal.Router.Advertise", neighbour, false)
}

// AdvertiseChanges returns a message with what changed since the last message to a neighbour; the message is empty if
// nothing changed. The first message has all levels. Changes the router.
func (r *Router) AdvertiseChanges(neighbour uint64) ([]byte, error) {
	return r.send("petal.Router.AdvertiseChanges", neighbour, true)
}

func (r *Router) send(op string, neighbour uint64, changes bool) ([]byte, error) {
	var bytes []byte
	err := called(op, func(failure *C.petal_error) {
		var message unsafe.Pointer
		var length C.size_t
		status := C.petal_go_router_advertise_some(r.toChange(), C.uint64_t(neighbour), C.bool(changes), &message, &length,
			failure)
		if status == C.PETAL_OK && length > 0 {
			bytes = append([]byte{}, unsafe.Slice((*byte)(message), length)...)
		}
	})
	return bytes, err
}

// Receive takes a message that came from a neighbour. A message that is refused changes nothing: [ErrIncompatible] for
// one of another network, edge or link; [ErrCorrupt] for one that is damaged, repeated or late; [ErrForeign],
// [ErrTruncated], [ErrNewerVersion]. Changes the router.
func (r *Router) Receive(neighbour uint64, message []byte) (RouterReceived, error) {
	return answered("petal.Router.Receive", func(received *RouterReceived, failure *C.petal_error) {
		C.petal_go_router_receive(r.toChange(), C.uint64_t(neighbour), nonNil(message), C.size_t(len(message)),
			(*C.petal_router_received)(received), failure)
	})
}

// raw returns the library's walk, and one that cannot be for nil.
func (w *RouterWalkState) raw() *C.petal_router_walk_state {
	if w == nil {
		return &C.petal_router_walk_state{visited: C.uint32_t(len(RouterWalkState{}.Nodes) + 1)}
	}
	return (*C.petal_router_walk_state)(unsafe.Pointer(w))
}

func routeOf(op string, status C.petal_status, raw *C.petal_router_route) (RouterRoute, error) {
	route := RouterRoute{Kind: RouterRouteKind(raw.kind), Level: uint32(raw.level), Neighbour: uint64(raw.neighbour)}
	return route, statusError(op, status)
}

// RouterRoute tells where a query for a byte key goes. from is the number of the neighbour from which the query came,
// and nil where the query begins: a query never goes back over that edge. The route is [RouterRouteFallBack] if
// hopsLeft is 0 or no edge has the key. Otherwise the route is the edge with the least level that has the key. You
// count the hops: pass one less at each node.
func (r *Router) Route(key []byte, from *uint64, hopsLeft uint32) (RouterRoute, error) {
	var route C.petal_router_route
	status := C.petal_go_router_get_route(r.raw(), bytesOf(key), C.size_t(len(key)), (*C.uint64_t)(from),
		C.uint32_t(hopsLeft), &route)
	runtime.KeepAlive(r)
	return routeOf("petal.Router.Route", status, &route)
}

// RouterWalkState tells where a query for a byte key goes that remembers the nodes it visited. Call it at each node
// where the query is, and send walk with the query. The query goes on only to nodes that it did not visit, and goes
// back the way it came where a node has no edge that is left to try ([RouterRouteBack]). A hop in either direction
// takes 1 from the walk's hops that are left. If the route is [RouterRouteHere] and the node does not have the key
// after all, call the method again. Returns [ErrOutOfRange] for a walk that cannot be.
func (r *Router) Walk(key []byte, walk *RouterWalkState) (RouterRoute, error) {
	var route C.petal_router_route
	status := C.petal_go_router_walk(r.raw(), bytesOf(key), C.size_t(len(key)), walk.raw(), &route)
	runtime.KeepAlive(r)
	return routeOf("petal.Router.Walk", status, &route)
}

// Rates tells how often the router misleads queries, as expected and as it is now.
func (r *Router) Statistics() (RouterStatistics, error) {
	raw := C.petal_router_statistics{struct_size: C.size_t(unsafe.Sizeof(C.petal_router_statistics{}))}
	return converted("petal.Router.Statistics", raw, ratesOf,
		func(raw *C.petal_router_statistics, failure *C.petal_error) {
			C.petal_router_get_statistics(r.raw(), raw, failure)
		})
}

func ratesOf(raw *C.petal_router_statistics) RouterStatistics {
	rates := RouterStatistics{
		IsOverfull:     raw.is_overfull != 0,
		Ignored:        uint64(raw.ignored),
		OwnFill:        float64(raw.own_fill),
		FalseRouteRate: float64(raw.false_route_rate),
	}
	for _, level := range raw.level[:raw.levels] {
		rates.Levels = append(rates.Levels, RouterLevelStatistics{
			ExpectedKeys:   float64(level.expected_keys),
			ExpectedFill:   float64(level.expected_fill),
			ExpectedRate:   float64(level.expected_rate),
			MeanFill:       float64(level.mean_fill),
			GreatestFill:   float64(level.greatest_fill),
			FalseRouteRate: float64(level.false_route_rate),
		})
	}
	return rates
}
