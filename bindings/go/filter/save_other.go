//go:build !unix

package filter

import (
	"io/fs"
	"os"
)

// takeOwner returns the permissions of another file. On this system files have no owner to copy.
func takeOwner(_ *os.File, existing fs.FileInfo) fs.FileMode { return existing.Mode().Perm() }

// syncFolder does nothing, because folders cannot be synced on this system.
func syncFolder(string) error { return nil }
