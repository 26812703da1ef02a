package main

import (
	"fmt"
	"sync"

	"github.com/petal-filter/petal/bindings/go"
)

// seenRecently remembers keys for a while, in two filters of fixed size: the current one and the previous one. When the
// current filter is full it becomes the previous one, and the keys of the old previous one are forgotten. A key is so
// remembered until between one and two times `window` other keys came.
type seenRecently struct {
	mutex             sync.Mutex
	current, previous *petal.Filter
	window, fresh     uint64
	rotations         int
}

// newSeenRecently makes the filters. rate is the share of new keys that each of them takes for known ones.
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

// again adds a key and says whether it was there already.
func (s *seenRecently) again(key string) (bool, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	// One call adds the key and says whether it was new.
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

// bytes returns how much memory both filters take.
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
