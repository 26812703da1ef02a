package filter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/petal-filter/petal/bindings/go/internal/encoded"
)

// WriteTo writes the image, piece by piece and without a copy of the whole. An unclean filter stays unclean. Only reads
// the filter.
func (f *Filter) WriteTo(w io.Writer) (int64, error) { return f.image().WriteTo(w) }

// MarshalBinary returns the image. Only reads the filter.
func (f *Filter) MarshalBinary() ([]byte, error) { return f.image().MarshalBinary() }

// AppendBinary appends the image to a slice. Only reads the filter.
func (f *Filter) AppendBinary(b []byte) ([]byte, error) {
	buffer := bytes.NewBuffer(b)
	if _, err := f.WriteTo(buffer); err != nil {
		return b, err
	}
	return buffer.Bytes(), nil
}

// UnmarshalBinary loads an image into the filter, as [Load] does. A keyed filter has no key then: use Load. Changes the
// filter.
func (f *Filter) UnmarshalBinary(slice []byte) error {
	if f == nil {
		return closed
	}
	return f.become(Load(slice, nil))
}

// MarshalText returns the image in base64, so that a filter has a form in JSON and XML. A keyed filter lacks its key
// there. Only reads the filter.
func (f *Filter) MarshalText() ([]byte, error) { return encoded.Text(f.MarshalBinary()) }

// UnmarshalText loads an image in base64 into the filter, as [Filter.UnmarshalBinary] does. Changes the filter.
func (f *Filter) UnmarshalText(text []byte) error { return encoded.Load(text, f.UnmarshalBinary) }

// LogValue returns what [Filter.String] does, for package log/slog. Only reads the filter.
func (f *Filter) LogValue() slog.Value { return slog.StringValue(f.String()) }

// ReadFrom reads one image into the filter, and not a byte more, as [Read] does. A keyed filter has no key then: use
// Read. Changes the filter.
func (f *Filter) ReadFrom(r io.Reader) (int64, error) {
	if f == nil {
		return 0, closed
	}
	counted := &countingReader{reader: r}
	err := f.become(Read(counted, nil))
	return counted.count, err
}

// become takes over another filter.
func (f *Filter) become(other *Filter, err error) error {
	if err == nil {
		*f = *other
	}
	return err
}

// countingReader counts the bytes that are read through it.
type countingReader struct {
	reader io.Reader
	count  int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.reader.Read(b)
	c.count += int64(n)
	return n, err
}

// SerializedSize returns the size of the image in bytes. Only reads the filter.
func (f *Filter) SerializedSize() (uint64, error) {
	d, err := f.Describe()
	return d.Bytes, err
}

// Save writes the image to a file in one step: readers see the old image or the new one, and processes that map the old
// file keep it. Save writes a temporary file next to the old file, syncs it to the disk, and then replaces the old
// file. The new file has the permissions of the old one, and its owner if the system allows that. A process that is
// killed meanwhile may leave a file .petal-*.part behind. Returns [ErrUnsupported] for a path that is no regular file.
// Only reads the filter.
func (f *Filter) Save(path string) (err error) {
	if f.image().Header().Kind == 0 {
		return closed
	}
	// Checks the target of a symbolic link, but replaces the link itself.
	existing, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && !existing.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is not a regular file", ErrUnsupported, path)
	}
	temporary, err := createBeside(path, existing)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temporary.Close()
			_ = os.Remove(temporary.Name())
		}
	}()
	if existing != nil {
		if err := temporary.Chmod(takeOwner(temporary, existing)); err != nil {
			return err
		}
	}
	if _, err := f.WriteTo(temporary); err != nil {
		return err
	}
	if err := temporary.Sync(); err != nil {
		return err
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// createBeside makes a new file in the folder of a path. If the path has no file, the new file has the usual
// permissions. Otherwise only the owner may open the new file until it gets the permissions of the old one.
func createBeside(path string, existing fs.FileInfo) (*os.File, error) {
	mode := fs.FileMode(0o666)
	if existing != nil {
		mode = 0o600
	}
	folder := filepath.Dir(path)
	for number := 0; ; number++ {
		name := filepath.Join(folder, fmt.Sprintf(".petal-%d-%d.part", os.Getpid(), number))
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) || number == 1<<16 {
			return file, err
		}
	}
}
