// Command cache is an HTTP cache that keeps an object from its second request on. Most objects of a busy site are
// requested once and never again; storing them would push out the objects that come back. A pair of filters remembers
// recent requests, in a byte or two an object.
//
//	cache -listen :8080 -origin http://localhost:9000
//	cache -load 400000
//
// The second form needs nothing else. The command starts an origin and two caches before it; one of them admits
// everything, for comparison. The command then sends requests over HTTP or, with -direct, straight to the handlers, and
// prints the hit rates.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// server answers from the cache, or from the origin.
type server struct {
	origin string
	client *http.Client
	cache  *cache
	// seen decides which objects are admitted; nil admits everything.
	seen *seenRecently

	requests, hits, admitted atomic.Uint64
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		http.Error(w, "this cache serves GET only", http.StatusMethodNotAllowed)
		return
	}
	s.requests.Add(1)
	name := r.URL.RequestURI()
	if body, found := s.cache.get(name); found {
		s.hits.Add(1)
		w.Header().Set("X-Cache", "hit")
		_, _ = w.Write(body)
		return
	}
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, s.origin+name, nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	response, err := s.client.Do(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if response.StatusCode == http.StatusOK && s.admits(name) {
		s.admitted.Add(1)
		s.cache.put(name, body)
	}
	w.Header().Set("X-Cache", "miss")
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body)
}

// admits says whether a fetched object goes into the cache: on its second request.
func (s *server) admits(name string) bool {
	if s.seen == nil {
		return true
	}
	again, err := s.seen.again(name)
	if err != nil {
		// Without the filter the program is a cache like any other.
		log.Print(err)
		return true
	}
	return again
}

func (s *server) hitRate() float64 {
	return float64(s.hits.Load()) / float64(max(s.requests.Load(), 1))
}

func (s *server) report(name string) string {
	line := fmt.Sprintf("%-24s %6.2f %% hits, %d of %d requests admitted an object", name, 100*s.hitRate(),
		s.admitted.Load(), s.requests.Load())
	if s.seen != nil {
		line += fmt.Sprintf(", %d rotations of %d bytes of filters", s.seen.rotations, s.seen.bytes())
	}
	return line
}

type settings struct {
	listen, origin string
	objects        int
	window         uint64
	rate           float64
	load           int
	direct         bool
}

func main() {
	var s settings
	flag.StringVar(&s.listen, "listen", "localhost:8080", "address to serve at")
	flag.StringVar(&s.origin, "origin", "http://localhost:9000", "where objects come from")
	flag.IntVar(&s.objects, "objects", 2000, "objects that the cache has room for")
	flag.Uint64Var(&s.window, "window", 50_000, "requests for other new objects after which one is forgotten, at least")
	flag.Float64Var(&s.rate, "false-positive-rate", 0.01, "share of new objects that are admitted at once")
	flag.IntVar(&s.load, "load", 0, "make this many requests itself, print the hit rates and end")
	flag.BoolVar(&s.direct, "direct", false, "with -load: without a network between")
	flag.Parse()
	if err := run(s, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(s settings, out io.Writer) error {
	seen, err := newSeenRecently(s.window, s.rate)
	if err != nil {
		return err
	}
	defer seen.Close()
	if s.load > 0 {
		return drive(s, seen, out)
	}
	server := &server{origin: s.origin, client: http.DefaultClient, cache: newCache(s.objects), seen: seen}
	go func() {
		for range time.Tick(10 * time.Second) {
			log.Print(server.report(s.listen))
		}
	}()
	return http.ListenAndServe(s.listen, server)
}

// drive sends the same requests to a cache that admits on the second request and to one that admits everything. Half of
// the requests are for popular objects, by Zipf's law, and half for objects that nobody requests again.
func drive(s settings, seen *seenRecently, out io.Writer) error {
	origin := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "the object", r.URL.Path)
	})
	address, client, stop := serve(origin, s.direct)
	defer stop()
	selective := &server{origin: address, client: client, cache: newCache(s.objects), seen: seen}
	greedy := &server{origin: address, client: client, cache: newCache(s.objects)}
	for _, server := range []*server{selective, greedy} {
		address, client, stop := serve(server, s.direct)
		defer stop()
		random := rand.New(rand.NewPCG(1, 2))
		popular := rand.NewZipf(random, 1.1, 10, 100_000)
		for i := range s.load {
			name := "/once/" + strconv.Itoa(i)
			if random.IntN(2) == 0 {
				name = "/popular/" + strconv.FormatUint(popular.Uint64(), 10)
			}
			response, err := client.Get(address + name)
			if err != nil {
				return err
			}
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil {
				return err
			}
			if want := "the object " + name + "\n"; string(body) != want {
				return fmt.Errorf("%s: %q", name, body)
			}
		}
	}
	fmt.Fprintln(out, selective.report("on the second request:"))
	fmt.Fprintln(out, greedy.report("everything at once:"))
	fmt.Fprintf(out, "hit rate: %.2f times as high\n", selective.hitRate()/greedy.hitRate())
	return nil
}

// serve returns an address and a client that reach a handler: over a socket, or directly.
func serve(handler http.Handler, direct bool) (address string, client *http.Client, stop func()) {
	if direct {
		return "http://handler", &http.Client{Transport: transport{handler}}, func() {}
	}
	server := httptest.NewServer(handler)
	return server.URL, server.Client(), server.Close
}

// transport calls a handler directly instead of over a network.
type transport struct {
	handler http.Handler
}

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	t.handler.ServeHTTP(recorder, request)
	return recorder.Result(), nil
}
