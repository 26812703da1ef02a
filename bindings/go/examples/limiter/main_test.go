package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestLimitsAreKept(t *testing.T) {
	l := limits{window: time.Minute, perHost: 200, perUser: 20}
	// For as many pairs as come, and for a tenth of that.
	for _, pairs := range []uint64{20_000, 2000} {
		var out strings.Builder
		err := run(l, pairs, 60_000, &out)
		t.Log("\n" + out.String())
		if !strings.Contains(out.String(), "\n0 requests passed above a limit") {
			t.Error("a limit was exceeded")
		}
		// Ten times as many as planned may be refused without need.
		if pairs == 20_000 && err != nil {
			t.Error(err)
		}
	}
}

func TestRequestsAreRefusedAndPassAgain(t *testing.T) {
	limiter, err := newLimiter(limits{window: time.Minute, perHost: 5, perUser: 3}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer limiter.close()
	now := time.Unix(1e9, 0)
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	handler := limiter.handler(next, func() time.Time { return now })
	ask := func(host, user string) int {
		request := httptest.NewRequest("GET", "/", nil)
		request.RemoteAddr = host + ":1234"
		request.SetBasicAuth(user, "")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		return answer.Code
	}
	const ok, refused = http.StatusOK, http.StatusTooManyRequests
	for i, one := range []struct {
		after      time.Duration
		host, user string
		want       int
	}{
		{0, "a", "ann", ok}, {0, "a", "ann", ok}, {0, "a", "ann", ok}, {0, "a", "ann", refused},
		{0, "b", "ann", ok}, {0, "a", "bob", ok}, {0, "a", "eve", ok}, {0, "a", "tom", refused},
		// A window later two thirds of the counts are left after a third of the next window.
		{80 * time.Second, "a", "ann", ok}, {0, "a", "ann", refused}, {40 * time.Second, "a", "ann", ok},
		{time.Hour, "a", "ann", ok}, {0, "a", "ann", ok}, {0, "a", "ann", ok}, {0, "a", "ann", refused},
	} {
		now = now.Add(one.after)
		if got := ask(one.host, one.user); got != one.want {
			t.Errorf("request %d of %s and %s: %d", i, one.host, one.user, got)
		}
	}
}
