package petal

import (
	"bytes"
	"errors"
	"testing"
)

// routers returns routers of the nodes 1, 2 and so on in a row, in which each node is a neighbour of the next.
func routers(t *testing.T, count int) []*Router {
	t.Helper()
	var all []*Router
	for i := range count {
		spec := Spec{Kind: "router", Bits: 1024, Hashes: 4, Parameters: map[string]string{"levels": "3", "edges": "4"}}
		r := must(NewRouter(spec, uint64(i+1)))
		t.Cleanup(func() { check(t, r.Close()) })
		if i > 0 {
			check(t, r.AddEdge(uint64(i), 7, 0))
			check(t, all[i-1].AddEdge(uint64(i+1), 7, 0))
		}
		all = append(all, r)
	}
	return all
}

// tell carries what changed from one router to another.
func tell(t *testing.T, from, to *Router) RouterReceived {
	t.Helper()
	message := must(from.AdvertiseChanges(to.Node()))
	return must(to.Receive(from.Node(), message))
}

func TestRoutersRouteQueries(t *testing.T) {
	all := routers(t, 3)
	first, second, third := all[0], all[1], all[2]
	check(t, third.Insert([]byte("song")))
	check(t, third.InsertString("text"))
	check(t, third.InsertUint64(5))
	check(t, third.InsertHash(6))
	check(t, third.InsertBatch(Uint64Keys([]uint64{7, 8}), nil))
	if tell(t, third, second) != RouterReceivedChanged || tell(t, second, first) != RouterReceivedChanged {
		t.Error("nothing changed")
	}
	want := RouterRoute{Kind: RouterRouteEdge, Level: 2, Neighbour: 2}
	for _, route := range []RouterRoute{
		must(first.Route([]byte("song"), nil, 9)), must(first.RouteString("text", nil, 9)),
		must(first.RouteUint64(5, nil, 9)), must(first.RouteHash(6, nil, 9)), must(first.RouteUint64(7, nil, 9)),
	} {
		if route != want {
			t.Error(route)
		}
	}
	from := uint64(3)
	if route := must(second.RouteUint64(5, &from, 9)); route.Kind != RouterRouteFallBack {
		t.Error(route)
	}
	if !third.Contains([]byte("song")) || !third.ContainsString("text") || !third.ContainsUint64(5) ||
		!third.ContainsHash(6) || first.ContainsUint64(5) {
		t.Error("the own keys are wrong")
	}
	check(t, third.Remove([]byte("song")))
	check(t, third.RemoveString("text"))
	check(t, third.RemoveUint64(5))
	check(t, third.RemoveHash(6))
	check(t, third.RemoveBatch(Uint64Keys([]uint64{7}), nil))
	if third.ContainsString("song") || third.ContainsUint64(7) || !third.ContainsUint64(8) {
		t.Error("the own keys are wrong after removal")
	}
	check(t, third.Clear())
	if third.ContainsUint64(8) || third.Capabilities()&CanRemove == 0 {
		t.Error("the router was not cleared, or cannot remove")
	}
}

func TestWalksGoBack(t *testing.T) {
	all := routers(t, 3)
	check(t, all[2].InsertUint64(5))
	tell(t, all[2], all[1])
	tell(t, all[1], all[0])
	walk := &RouterWalkState{HopsLeft: 4}
	routes := []RouterRoute{{RouterRouteEdge, 2, 2}, {RouterRouteEdge, 1, 3}, {Kind: RouterRouteHere},
		{Kind: RouterRouteBack, Neighbour: 2}}
	for i, want := range routes {
		if route := must(all[min(i, 2)].WalkUint64(5, walk)); route != want {
			t.Error(i, route)
		}
	}
	if walk.HopsLeft != 1 || walk.Visited != 3 {
		t.Error(walk.HopsLeft, walk.Visited)
	}
	if must(all[0].WalkString("x", &RouterWalkState{HopsLeft: 1})).Kind != RouterRouteFallBack ||
		must(all[0].Walk([]byte("x"), &RouterWalkState{HopsLeft: 1})).Kind != RouterRouteFallBack ||
		must(all[0].WalkHash(1, &RouterWalkState{HopsLeft: 1})).Kind != RouterRouteFallBack {
		t.Error("a key that is nowhere was routed")
	}
	if _, err := all[0].WalkUint64(5, nil); !errors.Is(err, ErrOutOfRange) {
		t.Error(err)
	}
	walk.Depth = 70
	if _, err := all[0].WalkUint64(5, walk); !errors.Is(err, ErrOutOfRange) {
		t.Error(err)
	}
}

func TestRoutersRefuseMessages(t *testing.T) {
	all := routers(t, 2)
	check(t, all[0].InsertUint64(1))
	message := must(all[0].Advertise(2))
	if received := must(all[1].Receive(1, message)); received != RouterReceivedChanged {
		t.Error(received)
	}
	if _, err := all[1].Receive(1, message); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
	if _, err := all[1].Receive(1, []byte("PETAL")); !errors.Is(err, ErrForeign) {
		t.Error(err)
	}
	if _, err := all[1].Receive(9, message); !errors.Is(err, ErrOutOfRange) {
		t.Error(err)
	}
	if received := must(all[1].Receive(1, must(all[0].Advertise(2)))); received != RouterReceivedUnchanged {
		t.Error(received)
	}
	if message := must(all[0].AdvertiseChanges(2)); len(message) != 0 {
		t.Error(message)
	}
	check(t, all[0].InsertUint64(2))
	must(all[0].AdvertiseChanges(2))
	check(t, all[0].InsertUint64(3))
	if received := tell(t, all[0], all[1]); received != RouterReceivedNeedsAll || received.String() != "needs_all" {
		t.Error(received)
	}
	spec := Spec{Kind: "router", Bits: 2048, Hashes: 4, Parameters: map[string]string{"levels": "3"}}
	other := must(NewRouter(spec, 1))
	defer other.Close()
	check(t, other.AddEdge(2, 7, 0))
	if _, err := all[1].Receive(1, must(other.Advertise(2))); !errors.Is(err, ErrIncompatible) {
		t.Error(err)
	}
}

func TestRoutersHaveEdgesRatesAndImages(t *testing.T) {
	spec := Spec{Kind: "router", Capacity: 100}
	r := must(NewRouter(spec, 1))
	defer r.Close()
	check(t, r.SetNode(4))
	check(t, r.AddEdge(2, 3, 0.25))
	check(t, r.AddEdge(9, 0, 0))
	check(t, r.SetEdgeWeight(9, 1.5))
	check(t, r.SetLevelWeights([]float64{1, 0.5, 0.25}))
	if err := r.SetLevelWeights(nil); !errors.Is(err, ErrOutOfRange) {
		t.Error(err)
	}
	if err := r.SetNode(5); !errors.Is(err, ErrContradiction) {
		t.Error(err)
	}
	neighbours := must(r.Neighbours())
	edge := must(r.Edge(9))
	if len(neighbours) != 2 || edge.Weight != 1.5 || len(edge.Fill) != 3 || must(r.Edge(2)).Link != 3 {
		t.Error(neighbours, edge)
	}
	check(t, r.RemoveEdge(9))
	if _, err := r.Edge(9); !errors.Is(err, ErrOutOfRange) {
		t.Error(err)
	}
	rates := must(r.Statistics())
	last := rates.Levels[len(rates.Levels)-1]
	if len(rates.Levels) != 3 || last.ExpectedKeys != 900 || last.ExpectedFill > 0.3 || rates.IsOverfull {
		t.Error(rates)
	}
	image := must(r.MarshalBinary())
	var written bytes.Buffer
	must(r.WriteTo(&written))
	if !bytes.Equal(image, written.Bytes()) || must(r.SerializedSize()) != uint64(len(image)) {
		t.Error("the image is written in two ways")
	}
	path := t.TempDir() + "/router"
	check(t, r.Save(path))
	opened := must(OpenRouter(path, nil))
	loaded := must(LoadRouter(image, nil))
	copied := must(loaded.Copy())
	for _, other := range []*Router{opened, loaded, copied} {
		check(t, other.Verify())
		if other.Node() != 4 || must(other.Edge(2)).Weight != 0.25 || must(other.Describe()).Capacity != 100 {
			t.Error("another router was opened")
		}
		check(t, other.Close())
	}
	if _, err := OpenSketch(path, nil); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
}
