package petal

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// numbered returns a sketch of the numbers from first on, less than end.
func numbered(t *testing.T, first, end uint64, keeps bool) *Sketch {
	t.Helper()
	s := must(NewSketch(Spec{Kind: "riblt", Bits: 192 * 50}))
	if keeps {
		check(t, s.KeepKeys())
	}
	numbers := make([]uint64, 0, end-first)
	for number := first; number < end; number++ {
		numbers = append(numbers, number)
	}
	check(t, s.InsertBatch(Uint64Keys(numbers), nil))
	return s
}

// sessionOf returns a session over a sketch, and closes the sketch.
func sessionOf(t *testing.T, sketch *Sketch, role SessionRole, options *SessionOptions) *Session {
	t.Helper()
	s := must(NewSession(sketch, role, options))
	check(t, sketch.Close())
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

// carry carries messages until no side has one, or a side refuses one.
func carry(ours, theirs *Session) error {
	for {
		from, to := ours, theirs
		if ours.Turn() != SessionTurnSend {
			from, to = theirs, ours
		}
		if from.Turn() != SessionTurnSend {
			return nil
		}
		message, err := from.Send()
		if err != nil {
			return err
		}
		if err := to.Receive(message); err != nil {
			return err
		}
	}
}

func TestSessionsTellBothSidesWhatDiffers(t *testing.T) {
	for _, options := range []*SessionOptions{nil, {}, {KeptSymbols: true}} {
		ours := sessionOf(t, numbered(t, 0, 1003, true), SessionRoleInitiator, options)
		theirs := sessionOf(t, numbered(t, 3, 1005, true), SessionRoleResponder, nil)
		if ours.Turn() != SessionTurnSend || theirs.Turn() != SessionTurnReceive {
			t.Error(ours.Turn(), theirs.Turn())
		}
		check(t, carry(ours, theirs))
		if ours.Turn() != SessionTurnDone || theirs.Turn() != SessionTurnDone {
			t.Error(ours.Turn(), theirs.Turn())
		}
		want := []SketchListed{{1003, -1}, {1004, -1}, {0, 1}, {1, 1}, {2, 1}}
		if got := must(ours.Differences()); !slices.Equal(got, want) {
			t.Error(got)
		}
		want = []SketchListed{{0, -1}, {1, -1}, {2, -1}, {1003, 1}, {1004, 1}}
		if got := must(theirs.Differences()); !slices.Equal(got, want) {
			t.Error(got)
		}
		report, other := must(ours.Statistics()), must(theirs.Statistics())
		method, kept := SessionMethodPinSketch, options != nil && options.KeptSymbols
		if kept {
			method = SessionMethodRIBLT
		}
		if report.Method != method || report.UsedKeptSymbols != kept || report.EstimatedDifferences < 1 ||
			report.EstimateDeviation <= 0 || (report.Symbols > 0) != kept || (report.Syndromes > 0) == kept {
			t.Errorf("%+v", report)
		}
		other.SentBytes, other.ReceivedBytes, other.TheirCount = other.ReceivedBytes, other.SentBytes, other.TheirCount-1
		other.EstimatedDifferences, other.EstimateDeviation = report.EstimatedDifferences, report.EstimateDeviation
		if report != other || report.TheirCount != 1002 || report.Messages < 3 || report.SentBytes < 50 {
			t.Errorf("%+v\n%+v", report, other)
		}
		var back SessionStatistics
		check(t, json.Unmarshal(must(json.Marshal(report)), &back))
		if back != report {
			t.Errorf("%+v, not %+v", back, report)
		}
	}
}

func TestSessionsOfUnlikeAndEqualSets(t *testing.T) {
	ours := sessionOf(t, numbered(t, 0, 3000, true), SessionRoleInitiator, nil)
	theirs := sessionOf(t, numbered(t, 2000, 5000, true), SessionRoleResponder, nil)
	check(t, carry(ours, theirs))
	listed, report := must(ours.Differences()), must(ours.Statistics())
	if len(listed) != 4000 || listed[0] != (SketchListed{3000, -1}) || listed[2000] != (SketchListed{0, 1}) {
		t.Error(len(listed))
	}
	if report.Method != SessionMethodFilterAndRIBLT || report.FilterBytes < 1000 {
		t.Errorf("%+v", report)
	}
	ours = sessionOf(t, numbered(t, 0, 100, true), SessionRoleInitiator, nil)
	theirs = sessionOf(t, numbered(t, 0, 100, true), SessionRoleResponder, nil)
	check(t, carry(ours, theirs))
	if listed := must(theirs.Differences()); len(listed) != 0 || must(theirs.Statistics()).Method != SessionMethodEqual {
		t.Error(listed)
	}
}

func TestSessionsRefuseWhatIsNotDue(t *testing.T) {
	ours := sessionOf(t, numbered(t, 0, 1000, true), SessionRoleInitiator, nil)
	theirs := sessionOf(t, numbered(t, 0, 1001, true), SessionRoleResponder, nil)
	wants(t, errorIn(theirs.Send()), ErrUnsupportedByHandle)
	wants(t, ours.Receive(nil), ErrUnsupportedByHandle)
	wants(t, errorIn(ours.Differences()), ErrUnsupportedByHandle)
	message := must(ours.Send())
	wants(t, theirs.Receive(nil), ErrTruncated)
	wants(t, theirs.Receive([]byte("x")), ErrForeign)
	wants(t, theirs.Receive(message[:len(message)-1]), ErrCorrupt)
	newer := slices.Clone(message)
	newer[4]++
	wants(t, theirs.Receive(newer), ErrNewerVersion)
	if report := must(theirs.Statistics()); report != (SessionStatistics{}) || theirs.Turn() != SessionTurnReceive {
		t.Errorf("%+v", report)
	}
	check(t, theirs.Receive(message))
	answer := must(theirs.Send())
	wants(t, ours.Receive(message), ErrCorrupt)
	check(t, ours.Receive(answer))
	check(t, carry(ours, theirs))
	if listed := must(ours.Differences()); !slices.Equal(listed, []SketchListed{{1000, -1}}) {
		t.Error(listed)
	}

	sketch := must(NewSketch(Spec{Capacity: 5}))
	wants(t, errorIn(NewSession(sketch, SessionRoleInitiator, nil)), ErrUnsupported)
	check(t, sketch.KeepKeys())
	wants(t, errorIn(NewSession(sketch, SessionRoleInitiator, &SessionOptions{KeptSymbols: true})), ErrUnsupported)
	wants(t, errorIn(NewSession(sketch, 2, nil)), ErrUnknownValue)
	check(t, sketch.Close())
	wants(t, errorIn(NewSession(sketch, SessionRoleInitiator, nil)), ErrClosed)
	wants(t, errorIn(NewSession(nil, SessionRoleInitiator, nil)), ErrClosed)
}

func TestSessionsTellTheOtherSideOfAFailure(t *testing.T) {
	failed := sessionOf(t, numbered(t, 0, 3000, false), SessionRoleInitiator, nil)
	told := sessionOf(t, numbered(t, 1000, 4000, false), SessionRoleResponder, nil)
	wants(t, carry(failed, told), ErrUnsupportedByHandle)
	if failed.Turn() != SessionTurnSend {
		failed, told = told, failed
	}
	wants(t, told.Receive(must(failed.Send())), ErrUnsupportedByHandle)
	for _, side := range []*Session{failed, told} {
		if side.Turn() != SessionTurnFailed {
			t.Error(side.Turn())
		}
		wants(t, errorIn(side.Send()), ErrUnsupportedByHandle)
		wants(t, side.Receive(nil), ErrUnsupportedByHandle)
		wants(t, errorIn(side.Differences()), ErrUnsupportedByHandle)
	}
	if err := errorIn(told.Send()); !strings.Contains(err.Error(), "the other side gave up") {
		t.Error(err)
	}
}

func TestClosedSessions(t *testing.T) {
	s := must(NewSession(numbered(t, 0, 5, true), SessionRoleInitiator, nil))
	check(t, s.Close())
	check(t, s.Close())
	wants(t, errorIn(s.Send()), ErrClosed)
	wants(t, s.Receive([]byte("x")), ErrClosed)
	wants(t, errorIn(s.Differences()), ErrClosed)
	wants(t, errorIn(s.Statistics()), ErrClosed)
	if s.Turn() != SessionTurnFailed {
		t.Error(s.Turn())
	}
	if got := errorIn(s.Statistics()).Error(); got != "petal.Session.Statistics: the session is closed" {
		t.Error(got)
	}
}
