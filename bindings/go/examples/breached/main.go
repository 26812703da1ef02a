// Command breached is an HTTP service that says whether a password was in a breach, in pure Go: without cgo and without
// libpetal. The service looks passwords up in a file that the command petal built from a list of breached passwords,
// one a line:
//
//	petal build --kind fuse --fpr 0.001 -o breached.petal LIST
//	CGO_ENABLED=0 go run ./examples/breached -filter breached.petal -listen 127.0.0.1:8080
//	curl --data-binary @- http://127.0.0.1:8080/check
//
// The kind is fuse because such a list is complete from the start and is replaced as a whole. At 1 in 1000 a password
// takes 11.3 bits; kinds that take further passwords need 14.4 bits and more. A lookup takes three accesses to memory.
// The filter needs no secret key: the list is public, and nobody adds to it.
//
// No password of the list gets through. Of the others 1 in 1000 is taken for a breached one, and its user chooses
// another. All processes share the file, which is mapped for reading and verified once, at the start. Requests then
// look up at the same time, without a lock. To take a new list, the command replaces the file as a whole, and the
// service restarts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/petal-filter/petal/bindings/go/view"
)

// longest is the length of the longest password, in bytes.
const longest = 1024

// open maps the filter and verifies it. A filter that cannot hash keys says true of every key, so it cannot be a list
// of passwords.
func open(path string) (*view.Filter, error) {
	breached, err := view.Open(path, nil)
	if err != nil {
		return nil, err
	}
	if err = breached.Verify(); err == nil {
		_, err = breached.Hash(nil)
	}
	if err != nil {
		_ = breached.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return breached, nil
}

// handler answers POST /check, whose body is the password. The password is not in the query, because logs of servers
// and proxies contain queries. The handler does not log or keep passwords, and forbids caches to keep answers.
func handler(breached *view.Filter) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /check", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		password, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longest))
		defer clear(password)
		var tooLong *http.MaxBytesError
		switch {
		case errors.As(err, &tooLong):
			http.Error(w, fmt.Sprintf("a password has at most %d bytes", longest), http.StatusRequestEntityTooLarge)
		case err != nil:
			http.Error(w, "the password did not come whole", http.StatusBadRequest)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, "{\"breached\":%t}\n", breached.Contains(password))
		}
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, breached)
	})
	return mux
}

// serve answers requests until the context ends, and then finishes the requests that have begun.
func serve(ctx context.Context, breached *view.Filter, address string) error {
	server := &http.Server{
		Addr:              address,
		Handler:           handler(breached),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return server.Shutdown(ending)
}

func main() {
	path := flag.String("filter", "breached.petal", "the filter of breached passwords")
	address := flag.String("listen", "127.0.0.1:8080", "where to listen; put TLS before it")
	flag.Parse()
	breached, err := open(*path)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("%s: %v", *path, breached)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = serve(ctx, breached, *address)
	_ = breached.Close()
	if err != nil {
		log.Fatal(err)
	}
}
