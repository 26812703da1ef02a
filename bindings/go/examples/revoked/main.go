// Command revoked is an HTTP service that says whether a certificate is revoked, in pure Go: without cgo and without
// libpetal. The certificates are lines: an issuer of four bytes, and a serial number. The command petal built the file
// from a list of all certificates and a list of the revoked ones; examples/c/revocations.c makes such lists:
//
//	petal build --partition-prefix 4 --universe certificates-0.txt -o revoked.petal revoked-0.txt
//	CGO_ENABLED=0 go run ./examples/revoked -filter revoked.petal -listen 127.0.0.1:8080
//	curl 'http://127.0.0.1:8080/check?certificate=I017:0123456789abcdef'
//
// The kind is exact_set, which gives no wrong answer for any certificate of the list. The next day brings a delta:
//
//	petal patch revoked.petal change.delta -o revoked.petal
//
// The command replaces the file as a whole. The service sees that the file is another one, opens and verifies it, and
// goes on with it. Requests that have begun finish with the old file. A file that cannot be opened changes nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/petal-filter/petal/bindings/go/view"
)

// longest is the length of the longest certificate, in bytes.
const longest = 256

// list is the filter of the file that answers now.
type list struct{ *view.Live }

// open maps the filter and verifies it.
func open(path string) (list, error) {
	live, err := view.OpenLive(path, nil)
	return list{live}, err
}

// watch looks for another file, again and again, until the context ends.
func (l list) watch(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if isNew, err := l.Refresh(); err != nil {
				log.Printf("the old list stays: %v", err)
			} else if isNew {
				log.Printf("another list: %v", l)
			}
		}
	}
}

// handler answers GET /check?certificate=C. Certificates are public, so they may be in the query.
func (l list) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /check", func(w http.ResponseWriter, r *http.Request) {
		certificate := r.URL.Query().Get("certificate")
		if certificate == "" || len(certificate) > longest {
			http.Error(w, fmt.Sprintf("a certificate has 1 to %d bytes", longest), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "{\"revoked\":%t}\n", l.ContainsString(certificate))
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, l)
	})
	return mux
}

func main() {
	path := flag.String("filter", "revoked.petal", "the filter of revoked certificates")
	address := flag.String("listen", "127.0.0.1:8080", "where to listen; put TLS before it")
	every := flag.Duration("every", 10*time.Second, "how often to look for another file")
	flag.Parse()
	revoked, err := open(*path)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("%s: %v", *path, revoked)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go revoked.watch(ctx, *every)
	server := &http.Server{
		Addr:              *address,
		Handler:           revoked.handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	go func() {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = server.Shutdown(ending)
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
