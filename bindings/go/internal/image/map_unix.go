//go:build unix

package image

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"syscall"
)

// mapping is a mapped file.
type mapping struct {
	bytes   []byte
	cleanup runtime.Cleanup
}

func mapFile(file *os.File) (*mapping, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > math.MaxInt {
		return nil, &os.PathError{Op: "mmap", Path: file.Name(), Err: syscall.EINVAL}
	}
	if info.Size() == 0 {
		// An empty file cannot be mapped.
		return &mapping{}, nil
	}
	bytes, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: file.Name(), Err: err}
	}
	return &mapping{bytes: bytes}, nil
}

func (m *mapping) close() error {
	bytes := m.bytes
	m.bytes = nil
	if bytes == nil {
		return nil
	}
	if err := syscall.Munmap(bytes); err != nil {
		return fmt.Errorf("petal: munmap: %w", err)
	}
	return nil
}

// unmap is the cleanup of a filter that nobody closed.
func unmap(bytes []byte) {
	if bytes != nil {
		_ = syscall.Munmap(bytes)
	}
}
