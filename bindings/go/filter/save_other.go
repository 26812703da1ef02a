//go:build !unix

package filter

import (
	"io/fs"
	"os"
)

// takeOwner returns the permissions of another file: files here have no owner that goes with them.
func takeOwner(_ *os.File, existing fs.FileInfo) fs.FileMode { return existing.Mode().Perm() }

// syncFolder does nothing: folders here cannot be synced.
func syncFolder(string) error { return nil }
