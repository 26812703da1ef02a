//go:build !unix

package filter

import (
	"io/fs"
	"os"
)

// takeOwner does nothing: files here have no owner that goes with them.
func takeOwner(*os.File, fs.FileInfo) {}

// syncFolder does nothing: folders here cannot be synced.
func syncFolder(string) error { return nil }
