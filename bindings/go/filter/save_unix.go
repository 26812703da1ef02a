//go:build unix

package filter

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// takeOwner gives a file the owner and the group of another file, if the system allows that, and returns the
// permissions for the file. With another group, the group gets no more permissions than everybody.
func takeOwner(file *os.File, existing fs.FileInfo) fs.FileMode {
	mode := existing.Mode().Perm()
	status, ok := existing.Sys().(*syscall.Stat_t)
	if !ok || file.Chown(int(status.Uid), int(status.Gid)) == nil {
		return mode
	}
	if file.Chown(-1, int(status.Gid)) != nil {
		mode &= 0o707 | mode&0o007<<3
	}
	return mode
}

// syncFolder waits until a folder's entries are on the disk. Some file systems cannot sync folders and need not. A
// folder without read permission cannot be synced.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.EBADF) {
		return err
	}
	return nil
}
