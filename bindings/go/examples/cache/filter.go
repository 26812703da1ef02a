package main

import (
	"fmt"
	"sync"

	"github.com/petal-filter/petal/bindings/go"
)

// seenRecently remembers keys for a while: those of the filter that is filling, and those of the one before it. When
// the current one has got what it was sized for, it becomes the one before, and what that held is forgotten. So a key
// is remembered until some `window` other keys came, or twice as many, in two filters of fixed size.
type seenRecently struct {
	mutex             sync.Mutex
	current, previous *petal.Filter
	window, fresh     uint64
	rotations         int
}

// newSeenRecently makes the filters; rate is the share of new keys that pass for seen ones, in each of both.
func newSeenRecently(window uint64, rate float64) (*seenRecently, error) {
	spec := petal.Spec{Capacity: window, FalsePositiveRate: rate}
	current, err := petal.New(spec)
	if err != nil {
		return nil, err
	}
	previous, err := petal.New(spec)
	if err != nil {
		_ = current.Close()
		return nil, err
	}
	return &seenRecently{current: current, previous: previous, window: window}, nil
}

// again notes a key and says whether it was there already.
func (s *seenRecently) again(key string) (bool, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	// One call notes the key and says whether it was new.
	isNew, err := s.current.InsertString(key)
	if err != nil {
		return false, err
	}
	if !isNew {
		return true, nil
	}
	seen := s.previous.ContainsString(key)
	if s.fresh++; s.fresh == s.window {
		s.current, s.previous = s.previous, s.current
		s.fresh = 0
		s.rotations++
		if err := s.current.Clear(); err != nil {
			return false, fmt.Errorf("rotating: %w", err)
		}
	}
	return seen, nil
}

// bytes is how much memory both filters take.
func (s *seenRecently) bytes() uint64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	size, err := s.current.SerializedSize()
	if err != nil {
		return 0
	}
	return 2 * size
}

// Close frees both filters.
func (s *seenRecently) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_ = s.current.Close()
	return s.previous.Close()
}
