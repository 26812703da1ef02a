package view

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// Live is a filter that follows its file: when another file has taken the place of the file, as saving and `mv` do,
// [Live.Refresh] goes on with that one. Lookups run meanwhile, in any number of goroutines, and each has the answer of
// one of the two files. The old file is unmapped when no lookup uses it any more, so there is nothing to close.
//
//	revoked, err := view.OpenLive("revoked.petal", nil)
//	if err != nil {
//		return err
//	}
//	go func() {
//		for range time.Tick(10 * time.Second) {
//			if _, err := revoked.Refresh(); err != nil {
//				log.Printf("the old file stays: %v", err)
//			}
//		}
//	}()
//	if revoked.ContainsString(certificate) {
//
// All methods may run in many goroutines at once. A nil *Live is closed: its lookups say true.
type Live struct {
	never
	path    string
	options OpenOptions
	filter  atomic.Pointer[Filter]

	// refreshing guards what follows.
	refreshing sync.Mutex
	file       os.FileInfo
}

// OpenLive opens and verifies a file, which reads all of it.
func OpenLive(path string, options *OpenOptions) (*Live, error) {
	l := &Live{path: path}
	if options != nil {
		l.options = *options
	}
	if _, err := l.Refresh(); err != nil {
		return nil, err
	}
	return l, nil
}

// Refresh opens and verifies the file if it is another one than before, and then uses it. isNew is true if so. If the
// new file cannot be opened, or is unclean or damaged, Refresh returns the error, and the old file stays in use. If the
// file is the same, Refresh costs one look at its size and time.
func (l *Live) Refresh() (isNew bool, err error) {
	if l == nil {
		return false, (*Filter)(nil).Verify()
	}
	l.refreshing.Lock()
	defer l.refreshing.Unlock()
	// If the file is replaced between the two calls, the next Refresh opens it once more.
	file, err := os.Stat(l.path)
	if err != nil {
		return false, err
	}
	if l.file != nil && os.SameFile(file, l.file) && file.ModTime().Equal(l.file.ModTime()) &&
		file.Size() == l.file.Size() {
		return false, nil
	}
	filter, err := Open(l.path, &l.options)
	if err != nil {
		return false, err
	}
	if err := filter.Verify(); err != nil {
		_ = filter.Close()
		return false, fmt.Errorf("%s: %w", l.path, err)
	}
	// Nobody closes the old filter, because lookups may use it.
	l.filter.Store(filter)
	l.file = file
	return true, nil
}

// Filter returns the filter that is used now, for further methods. Do not close it.
func (l *Live) Filter() *Filter {
	if l == nil {
		return nil
	}
	return l.filter.Load()
}

// String returns one line about the filter that is used now, or "closed".
func (l *Live) String() string { return l.Filter().String() }

// Contains is [Filter.Contains] of the filter that is used now.
func (l *Live) Contains(key []byte) bool { return l.Filter().Contains(key) }

// ContainsString is [Filter.ContainsString] of the filter that is used now.
func (l *Live) ContainsString(key string) bool { return l.Filter().ContainsString(key) }

// ContainsUint64 is [Filter.ContainsUint64] of the filter that is used now.
func (l *Live) ContainsUint64(key uint64) bool { return l.Filter().ContainsUint64(key) }

// ContainsHash is [Filter.ContainsHash] of the filter that is used now.
func (l *Live) ContainsHash(hash uint64) bool { return l.Filter().ContainsHash(hash) }
