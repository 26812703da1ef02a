package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/petal-filter/petal/bindings/go/internal/goldenfiles"
)

// put replaces the file of a list by a golden file, as a whole.
func put(t *testing.T, path, golden string) {
	t.Helper()
	bytes, err := os.ReadFile(filepath.Join(goldenfiles.Folder(t), golden))
	if err != nil {
		t.Skip("tests/golden is not here")
	}
	if err := os.WriteFile(path+".new", bytes, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func ask(t *testing.T, server, certificate string) (status int, answer string) {
	t.Helper()
	response, err := http.Get(server + "/check?certificate=" + url.QueryEscape(certificate))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// The golden files have the members "key 0" to "key 99", and the excluded keys "key 100" to "key 999". One of the files
// was brought up to date.
func TestRevokedCertificatesAndTheirUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "revoked.petal")
	put(t, path, "exact_set-partition_prefix_bytes_5-layout_1-xxh3.petal")
	revoked, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(revoked.handler())
	defer server.Close()
	check := func() {
		t.Helper()
		for i := range 1000 {
			want := fmt.Sprintf("{\"revoked\":%t}\n", i < 100)
			if status, answer := ask(t, server.URL, fmt.Sprintf("key %d", i)); status != 200 || answer != want {
				t.Fatalf("certificate %d: %d %q", i, status, answer)
			}
		}
	}
	check()
	if isNew, err := revoked.Refresh(); isNew || err != nil {
		t.Errorf("the same file is new: %v", err)
	}
	put(t, path, "exact_set-partition_prefix_bytes_5-updated-layout_1-xxh3.petal")
	before := revoked.Filter()
	go revoked.watch(t.Context(), time.Millisecond)
	for range 5000 {
		if revoked.Filter() != before {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if revoked.Filter() == before {
		t.Error("the newer file was not taken")
	}
	check()
	for _, wrong := range []string{"", string(make([]byte, longest+1))} {
		if status, _ := ask(t, server.URL, wrong); status != http.StatusBadRequest {
			t.Errorf("%d bytes: %d", len(wrong), status)
		}
	}
}

// A file that is no filter leaves the old list in use.
func TestADamagedFileChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "revoked.petal")
	put(t, path, "exact_set-partition_prefix_bytes_5-layout_1-xxh3.petal")
	revoked, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{"", "no image"} {
		if err := os.WriteFile(path+".new", []byte(damaged), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		if isNew, err := revoked.Refresh(); isNew || err == nil {
			t.Errorf("%q was taken", damaged)
		}
	}
	if !revoked.ContainsString("key 0") {
		t.Error("the old list is gone")
	}
	if _, err := open(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing file was opened")
	}
}
