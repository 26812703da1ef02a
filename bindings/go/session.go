package petal

// #include "keys.h"
import "C"

import (
	"runtime"
	"unsafe"

	"github.com/petal-filter/petal/bindings/go/internal/texts"
)

// Session is one side of a session, in which two sides find out which keys only one of them has. Both sides have nearly
// the same keys, each in a [Sketch]. A session has no network: you carry its messages. Both sides need the same hash
// function, and the same seed or secret.
//
// If both sketches keep their keys, the session has its own random key, and makes a pass over the keys. Otherwise the
// session uses the coded symbols that the sketches keep. Whoever knows the sketches' seed or secret can choose keys
// that make such a session fail. A session does not know who the other side is: take a channel that authenticates it.
//
// Methods that only read the session may run in many goroutines at once. [Session.Close] and methods that change the
// session need it to themselves.
type Session struct {
	never
	owner *held[*C.petal_session]
}

// SessionRole is the part of a side.
type SessionRole uint32

const (
	// SessionRoleInitiator sends the first message, and chooses the way to the differences.
	SessionRoleInitiator SessionRole = C.PETAL_SESSION_ROLE_INITIATOR
	// SessionRoleResponder answers.
	SessionRoleResponder SessionRole = C.PETAL_SESSION_ROLE_RESPONDER
)

// SessionTurn is what a side has to do next.
type SessionTurn uint32

const (
	// SessionTurnSend says that [Session.Send] has a message.
	SessionTurnSend SessionTurn = C.PETAL_SESSION_TURN_SEND
	// SessionTurnReceive says that [Session.Receive] waits for a message.
	SessionTurnReceive SessionTurn = C.PETAL_SESSION_TURN_RECEIVE
	// SessionTurnDone says that the differences are known.
	SessionTurnDone SessionTurn = C.PETAL_SESSION_TURN_DONE
	// SessionTurnFailed says that the session ended without a result.
	SessionTurnFailed SessionTurn = C.PETAL_SESSION_TURN_FAILED
)

// SessionMethod is the way to the differences.
type SessionMethod uint32

const (
	// SessionMethodNone says that nothing was chosen yet.
	SessionMethodNone SessionMethod = C.PETAL_SESSION_METHOD_NONE
	// SessionMethodEqual says that the sets were equal.
	SessionMethodEqual SessionMethod = C.PETAL_SESSION_METHOD_EQUAL
	// SessionMethodPinSketch is for few differences, if both sides keep their keys: syndromes, as the kind pinsketch has
	// them.
	SessionMethodPinSketch SessionMethod = C.PETAL_SESSION_METHOD_PINSKETCH
	// SessionMethodRIBLT takes coded symbols, as the kind riblt has them.
	SessionMethodRIBLT SessionMethod = C.PETAL_SESSION_METHOD_RIBLT
	// SessionMethodFilterAndRIBLT is for unlike sets, if both sides keep their keys: a filter of each set, and coded
	// symbols of what passes them.
	SessionMethodFilterAndRIBLT SessionMethod = C.PETAL_SESSION_METHOD_FILTER_AND_RIBLT
)

var (
	roleNames = []string{SessionRoleInitiator: "initiator", SessionRoleResponder: "responder"}
	turnNames = []string{SessionTurnSend: "send", SessionTurnReceive: "receive", SessionTurnDone: "done",
		SessionTurnFailed: "failed"}
	methodNames = []string{
		SessionMethodNone: "none", SessionMethodEqual: "equal", SessionMethodPinSketch: "pinsketch",
		SessionMethodRIBLT: "riblt", SessionMethodFilterAndRIBLT: "filter_and_riblt",
	}
)

// String returns the name of the role.
func (r SessionRole) String() string { return texts.Name(roleNames, "role", uint32(r)) }

// String returns the name of the turn.
func (t SessionTurn) String() string { return texts.Name(turnNames, "turn", uint32(t)) }

// String returns the name of the method.
func (m SessionMethod) String() string { return texts.Name(methodNames, "method", uint32(m)) }

// MarshalText writes the name.
func (m SessionMethod) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText takes a name, such as "equal" or "riblt".
func (m *SessionMethod) UnmarshalText(text []byte) error {
	return valueOf(m, methodNames, "Method", text)
}

// SessionOptions says how a session finds the differences.
type SessionOptions struct {
	// KeptSymbols takes the symbols that the sketches keep, also if both sides keep their keys. The session then needs no
	// pass over the keys, and has no key of its own. It is enough that one side asks.
	KeptSymbols bool
}

// SessionStatistics says what a session chose, and what it cost so far.
type SessionStatistics struct {
	Method SessionMethod `json:"method"`
	// UsedKeptSymbols says that the session used the symbols that the sketches keep. Otherwise it had its own key.
	UsedKeptSymbols bool `json:"used_kept_symbols"`
	// EstimatedDifferences is the estimated number of differences. Only the initiator estimates; the responder has 0.
	EstimatedDifferences float64 `json:"estimated_differences"`
	// EstimateDeviation is the standard deviation of the estimate.
	EstimateDeviation float64 `json:"estimate_deviation"`
	// TheirCount is how many keys the other side has.
	TheirCount uint64 `json:"their_count"`
	// Symbols is how many coded symbols the initiator sent.
	Symbols uint64 `json:"symbols"`
	// Syndromes is how many syndromes the initiator sent.
	Syndromes uint64 `json:"syndromes"`
	// FilterBytes is how many bytes both filters have.
	FilterBytes uint64 `json:"filter_bytes"`
	// Messages is how many messages went both ways.
	Messages uint64 `json:"messages"`
	// SentBytes is how many bytes the messages of this side have.
	SentBytes uint64 `json:"sent_bytes"`
	// ReceivedBytes is how many bytes the messages of the other side have.
	ReceivedBytes uint64 `json:"received_bytes"`
}

// NewSession begins a session over a sketch's set. The sketch is one of kind riblt, or one that keeps its keys
// ([Sketch.KeepKeys]); NewSession returns [ErrUnsupported] for others. The session copies what it needs, so the sketch
// may change meanwhile. options may be nil. Only reads the sketch.
func NewSession(sketch *Sketch, role SessionRole, options *SessionOptions) (*Session, error) {
	var flags C.uint32_t
	if options != nil && options.KeptSymbols {
		flags = C.PETAL_SESSION_KEPT_SYMBOLS
	}
	owner, err := made("petal.NewSession", func(handle *C.petal_session) { C.petal_session_free(handle) },
		func(handle **C.petal_session, failure *C.petal_error) {
			C.petal_session_new(sketch.raw(), C.petal_session_role(role), flags, handle, failure)
		})
	if err != nil {
		return nil, err
	}
	return &Session{owner: owner}, nil
}

// raw returns the library's session from [held.toRead].
func (s *Session) raw() *C.petal_session {
	if s == nil {
		return nil
	}
	return s.owner.toRead()
}

// toChange returns the library's session from [held.toChange].
func (s *Session) toChange() *C.petal_session {
	if s == nil {
		return nil
	}
	return s.owner.toChange()
}

// Close frees the session. The error is always nil. Closing twice is allowed.
func (s *Session) Close() error {
	if s != nil {
		s.owner.close()
	}
	return nil
}

// Turn returns what this side has to do next. A closed session has failed.
func (s *Session) Turn() SessionTurn {
	turn := C.petal_session_get_turn(s.raw())
	runtime.KeepAlive(s)
	return SessionTurn(turn)
}

// Send returns the next message for the other side. Returns [ErrUnsupportedByHandle] if it is not this side's turn. If
// the session failed, one message tells the other side, and then Send returns why the session failed. Changes the
// session.
func (s *Session) Send() ([]byte, error) {
	var bytes []byte
	err := called("petal.Session.Send", func(failure *C.petal_error) {
		var message unsafe.Pointer
		var length C.size_t
		if C.petal_session_send(s.toChange(), &message, &length, failure) == C.PETAL_OK {
			bytes = append([]byte{}, unsafe.Slice((*byte)(message), length)...)
		}
	})
	return bytes, err
}

// Differences returns the numbers that one side has alone: first those of the other side with -1, then those of this
// side with 1, each in ascending order. Returns [ErrUnsupportedByHandle] unless the session is done, and why it failed
// if it did.
func (s *Session) Differences() ([]SketchListed, error) {
	const op = "petal.Session.Differences"
	count, err := answered(op, func(count *C.size_t, failure *C.petal_error) {
		C.petal_session_get_differences(s.raw(), nil, 0, count, failure)
	})
	if err != nil || count == 0 {
		return nil, err
	}
	listed := make([]SketchListed, count)
	err = called(op, func(failure *C.petal_error) {
		room := (*C.petal_sketch_listed)(unsafe.Pointer(unsafe.SliceData(listed)))
		C.petal_session_get_differences(s.raw(), room, count, &count, failure)
	})
	if err != nil {
		return nil, err
	}
	return listed, nil
}

// SessionStatistics tells what the session chose, and what it cost so far, in constant time.
func (s *Session) Statistics() (SessionStatistics, error) {
	raw := C.petal_session_statistics{struct_size: C.size_t(unsafe.Sizeof(C.petal_session_statistics{}))}
	return converted("petal.Session.Statistics", raw, reportOf,
		func(raw *C.petal_session_statistics, failure *C.petal_error) {
			C.petal_session_get_statistics(s.raw(), raw, failure)
		})
}

func reportOf(raw *C.petal_session_statistics) SessionStatistics {
	return SessionStatistics{
		Method:               SessionMethod(raw.method),
		UsedKeptSymbols:      raw.used_kept_symbols != 0,
		EstimatedDifferences: float64(raw.estimated_differences),
		EstimateDeviation:    float64(raw.estimate_deviation),
		TheirCount:           uint64(raw.their_count),
		Symbols:              uint64(raw.symbols),
		Syndromes:            uint64(raw.syndromes),
		FilterBytes:          uint64(raw.filter_bytes),
		Messages:             uint64(raw.messages),
		SentBytes:            uint64(raw.sent_bytes),
		ReceivedBytes:        uint64(raw.received_bytes),
	}
}
