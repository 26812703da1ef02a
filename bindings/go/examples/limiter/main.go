// Command limiter is an HTTP service that limits requests by host and by user. A host may make a limited number of
// requests in a window of time, and so may each user of a host. An exact limiter has a row for every host and every
// pair that came, and an attacker makes as many pairs as they like. This limiter has two filters of the kind spectral,
// whose size never changes: one counts the requests of this window, one has the counts of the window before. The
// filters never count too low, so no limit is ever exceeded. Few counts are too high, so few requests are refused that
// an exact limiter would pass.
//
//	limiter -listen localhost:8080       an HTTP service
//	limiter -requests 100000             compares with an exact limiter, and prints what the filters save
package main

import (
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/petal-filter/petal/bindings/go"
)

func main() {
	var l limits
	flag.DurationVar(&l.window, "window", time.Minute, "the window of time")
	flag.Float64Var(&l.perHost, "per-host", 200, "requests of a host in a window")
	flag.Float64Var(&l.perUser, "per-user", 20, "requests of a user of a host in a window")
	pairs := flag.Uint64("pairs", 10_000, "hosts and users in a window that the filters are made for")
	listen := flag.String("listen", "", "serve HTTP at this address")
	requests := flag.Int("requests", 100_000, "requests to compare, without an address")
	flag.Parse()
	if err := start(l, *pairs, *listen, *requests); err != nil {
		log.Fatal(err)
	}
}

func start(l limits, pairs uint64, listen string, requests int) error {
	if listen == "" {
		return run(l, pairs, requests, os.Stdout)
	}
	limiter, err := newLimiter(l, pairs)
	if err != nil {
		return err
	}
	defer limiter.close()
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })
	return http.ListenAndServe(listen, limiter.handler(hello, time.Now))
}

type limits struct {
	window           time.Duration
	perHost, perUser float64
}

// limiter counts requests in two filters.
type limiter struct {
	limits
	mutex sync.Mutex
	// now counts the requests of this window, which began at begun, and before has the counts of the last one.
	now, before *petal.Filter
	begun       time.Time
}

// newLimiter makes a limiter for this many pairs of host and user in a window. With more, more requests are refused
// that an exact limiter would pass.
func newLimiter(l limits, pairs uint64) (*limiter, error) {
	// A counter goes up to 255, or to 65535.
	counterBits := "8"
	switch greatest := max(l.perHost, l.perUser); {
	case greatest >= 65535:
		return nil, errors.New("limits above 65534")
	case greatest >= 255:
		counterBits = "16"
	}
	// The key is secret, so that nobody can find users that share their counters with others. Nothing is ever removed.
	spec := petal.Spec{Kind: "spectral", Capacity: pairs, FalsePositiveRate: 0.01, Hash: petal.SipHash13,
		Parameters: map[string]string{"method": "minimal_increase", "counter_bits": counterBits}}
	rand.Read(spec.Secret[:])
	now, err := petal.New(spec)
	if err != nil {
		return nil, err
	}
	before, err := petal.New(spec)
	if err != nil {
		return nil, errors.Join(err, now.Close())
	}
	return &limiter{limits: l, now: now, before: before}, nil
}

func (l *limiter) close() error { return errors.Join(l.now.Close(), l.before.Close()) }

// turn ends windows whose time is over.
func (l *limiter) turn(at time.Time) error {
	if at.Sub(l.begun) < l.window {
		return nil
	}
	l.now, l.before = l.before, l.now
	l.begun = l.begun.Add(l.window)
	if err := l.now.Clear(); err != nil || at.Sub(l.begun) < l.window {
		return err
	}
	// Nothing came for a whole window.
	l.begun = at
	return l.before.Clear()
}

// used returns how many requests a sliding window has: all of this window, and of the last one the share that is not
// over.
func (l *limiter) used(at time.Time, key string) (float64, error) {
	now, err := l.now.CountString(key)
	if err != nil {
		return 0, err
	}
	before, err := l.before.CountString(key)
	return float64(now) + l.left(at, l.begun)*float64(before), err
}

// left returns the share of the last window that still counts.
func (l *limits) left(at, begun time.Time) float64 {
	return 1 - max(0, float64(at.Sub(begun))/float64(l.window))
}

// pairOf returns the key of a user of a host. A host's name has no NUL, so no other host and user have this key.
func pairOf(host, user string) string { return host + "\x00" + user }

// passes tells whether a request may pass. A request that passes is counted.
func (l *limiter) passes(at time.Time, host, user string) (bool, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err := l.turn(at); err != nil {
		return false, err
	}
	pair := pairOf(host, user)
	for _, one := range []struct {
		key   string
		limit float64
	}{{host, l.perHost}, {pair, l.perUser}} {
		if used, err := l.used(at, one.key); err != nil || used+1 > one.limit {
			return false, err
		}
	}
	for _, key := range []string{host, pair} {
		if _, err := l.now.InsertString(key); err != nil {
			return false, err
		}
	}
	return true, nil
}

// handler passes requests within the limits to another handler. The user is that of the HTTP authentication: put the
// handler behind one that checks passwords, or a client names users at will.
func (l *limiter) handler(next http.Handler, clock func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		user, _, _ := r.BasicAuth()
		switch isPassed, err := l.passes(clock(), host, user); {
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		case !isPassed:
			w.Header().Set("Retry-After", fmt.Sprint(int(l.window.Seconds())))
			http.Error(w, "too many requests", http.StatusTooManyRequests)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// exact is a limiter with a row for each host and pair. It counts the requests that the other one passed.
type exact struct {
	limits
	now, before map[string]float64
	begun       time.Time
	mostBytes   int
}

func (e *exact) passes(at time.Time, host, user string) bool {
	if at.Sub(e.begun) >= e.window {
		e.now, e.before = map[string]float64{}, e.now
		e.begun = e.begun.Add(e.window)
		if at.Sub(e.begun) >= e.window {
			e.before, e.begun = nil, at
		}
	}
	used := func(key string) float64 { return e.now[key] + e.left(at, e.begun)*e.before[key] }
	return used(host)+1 <= e.perHost && used(pairOf(host, user))+1 <= e.perUser
}

func (e *exact) count(host, user string) {
	e.now[host]++
	e.now[pairOf(host, user)]++
	// A row has at least a string's pointer and length, the string of some 20 bytes, a number and a byte.
	e.mostBytes = max(e.mostBytes, (len(e.now)+len(e.before))*(16+20+8+1))
}

// run makes requests of ordinary users, of a user who never stops, and of a host that tries a new user with each
// request.
func run(l limits, pairs uint64, requests int, out io.Writer) error {
	limiter, err := newLimiter(l, pairs)
	if err != nil {
		return err
	}
	defer limiter.close()
	compared := exact{limits: l, now: map[string]float64{}}
	random := mathrand.New(mathrand.NewPCG(1, 1))
	passed, exceeded, tooStrict := 0, 0, 0
	for i := range requests {
		at := time.Unix(1e9, 0).Add(time.Duration(i) * 5 * time.Millisecond)
		number := random.IntN(50_000)
		host, user := fmt.Sprintf("10.0.%d.%d", number%4000/250, number%250), fmt.Sprint("user", number)
		switch i % 20 {
		case 0:
			host, user = "10.1.1.1", fmt.Sprint("attempt", i)
		case 1:
			host, user = "10.0.0.7", "user7"
		}
		mayPass := compared.passes(at, host, user)
		isPassed, err := limiter.passes(at, host, user)
		if err != nil {
			return err
		}
		if isPassed {
			compared.count(host, user)
			passed++
		}
		if isPassed && !mayPass {
			exceeded++
		}
		if !isPassed && mayPass {
			tooStrict++
		}
	}
	size, err := limiter.now.SerializedSize()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d requests, %d passed\n", requests, passed)
	fmt.Fprintf(out, "two filters take %d bytes, the rows of an exact limiter took %d: saved %.1f %%\n", 2*size,
		compared.mostBytes, 100-200*float64(size)/float64(max(1, compared.mostBytes)))
	fmt.Fprintf(out, "%d requests passed above a limit, %d were refused that an exact limiter passes\n", exceeded,
		tooStrict)
	if exceeded > 0 || tooStrict*100 > requests {
		return errors.New("the limiter is not as it should be")
	}
	return nil
}
