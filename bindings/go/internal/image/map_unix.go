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
	switch {
	case info.IsDir():
		return nil, &os.PathError{Op: "open", Path: file.Name(), Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is not a regular file, which can be mapped; Read takes it",
			ErrUnsupported, file.Name())
	case info.Size() > math.MaxInt:
		return nil, fmt.Errorf("%w: %s has %d bytes", ErrTooLarge, file.Name(), info.Size())
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
