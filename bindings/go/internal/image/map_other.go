//go:build !unix

package image

import (
	"io"
	"os"
	"runtime"
)

// mapping is a file read into memory, on systems without mmap.
type mapping struct {
	bytes   []byte
	cleanup runtime.Cleanup
}

func mapFile(file *os.File) (*mapping, error) {
	bytes, err := io.ReadAll(file)
	return &mapping{bytes: bytes}, err
}

func (m *mapping) close() error {
	m.bytes = nil
	return nil
}

func unmap([]byte) {}
