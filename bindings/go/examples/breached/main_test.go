package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/petal-filter/petal/bindings/go/internal/goldenfiles"
)

// breachedFile returns a filter and the passwords from which it was built. The files are PETAL_BREACHED and
// PETAL_BREACHED_LIST, which test.sh makes with the command petal, or a golden file.
func breachedFile(t *testing.T) (path string, list []string) {
	if path = os.Getenv("PETAL_BREACHED"); path != "" {
		file, err := os.Open(os.Getenv("PETAL_BREACHED_LIST"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			list = append(list, lines.Text())
		}
		return path, list
	}
	path = filepath.Join(goldenfiles.Folder(t), "fuse-fingerprint_bits_16-arity_3-layout_1-xxh3.petal")
	if _, err := os.Stat(path); err != nil {
		t.Skip("tests/golden is not here")
	}
	for i := range 100 {
		list = append(list, fmt.Sprintf("key %d", i))
	}
	return path, list
}

func ask(t *testing.T, url, password string) (status int, answer string) {
	t.Helper()
	response, err := http.Post(url+"/check", "text/plain", strings.NewReader(password))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, strings.TrimSpace(string(body))
}

func TestBreachedPasswordsAreFoundByAllAtOnce(t *testing.T) {
	path, list := breachedFile(t)
	breached, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer breached.Close()
	var logged bytes.Buffer
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	server := httptest.NewServer(handler(breached))
	defer server.Close()

	list = list[:min(len(list), 500)]
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range list {
				password := list[(i+worker*len(list)/4)%len(list)]
				if status, answer := ask(t, server.URL, password); status != 200 || answer != `{"breached":true}` {
					t.Errorf("a breached password gives %d %s", status, answer)
				}
			}
		}()
	}
	wait.Wait()
	others := 0
	for i := range 300 {
		if _, answer := ask(t, server.URL, fmt.Sprintf("nobody's %d", i)); answer == `{"breached":true}` {
			others++
		}
	}
	// The rate is at most 0.001.
	if others > 5 {
		t.Errorf("%d of 300 others are found", others)
	}
	if logged.Len() != 0 {
		t.Errorf("something was logged: %s", &logged)
	}
}

func TestWhatIsNoPasswordIsRefused(t *testing.T) {
	path, _ := breachedFile(t)
	breached, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer breached.Close()
	server := httptest.NewServer(handler(breached))
	defer server.Close()
	if status, _ := ask(t, server.URL, strings.Repeat("x", longest)); status != 200 {
		t.Error("the longest password:", status)
	}
	if status, _ := ask(t, server.URL, strings.Repeat("x", longest+1)); status != http.StatusRequestEntityTooLarge {
		t.Error("a longer one:", status)
	}
	response, err := http.Get(server.URL + "/check?password=secret")
	if err != nil {
		t.Fatal(err)
	}
	if response.Body.Close(); response.StatusCode != http.StatusMethodNotAllowed {
		t.Error("a password in a query:", response.StatusCode)
	}
}

// A file that does not match its checksums is not served.
func TestADamagedFileIsNotServed(t *testing.T) {
	path, _ := breachedFile(t)
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	image[300] ^= 1
	damaged := filepath.Join(t.TempDir(), "damaged.petal")
	if err := os.WriteFile(damaged, image, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(damaged); err == nil || !strings.Contains(err.Error(), damaged) {
		t.Error(err)
	}
}
