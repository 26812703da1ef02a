// Command replicas keeps two replicas of a table equal. Each replica writes and deletes records on its own. In every
// round the replicas find out by a session which records differ, and send each other only these. Of two records with
// one key the one with the higher version stays.
//
//	replicas -records 100000 -writes 100 -rounds 10
//
// The sketch of a replica holds a hash of each record: of its key, version and value. So a record that was written anew
// differs, and so does one that was deleted, which stays as a record without a value.
package main

import (
	"crypto/rand"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	mathrand "math/rand/v2"
	"net"
	"os"
	"strings"

	"github.com/petal-filter/petal/bindings/go"
)

func main() {
	var s settings
	flag.IntVar(&s.records, "records", 100_000, "records that both replicas have at first")
	flag.IntVar(&s.writes, "writes", 100, "records that each replica writes or deletes in a round")
	flag.IntVar(&s.rounds, "rounds", 10, "rounds")
	flag.Parse()
	if err := run(s, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

type settings struct {
	records, writes, rounds int
}

// record is a row of the table. A record without a value was deleted.
type record struct {
	Key     string
	Version uint64
	Value   string
}

// replaces tells whether a record takes the place of another one with its key. Two writes at the same time have the
// same version; then the values decide, so that both replicas choose the same record.
func (r record) replaces(other record) bool {
	if r.Version != other.Version {
		return r.Version > other.Version
	}
	return r.Value > other.Value
}

// replica is one copy of the table.
type replica struct {
	spec    petal.Spec
	sketch  *petal.Sketch
	records map[string]record
	// keys has the key of each record by the record's hash.
	keys map[uint64]string
}

func newReplica(spec petal.Spec) (*replica, error) {
	sketch, err := petal.NewSketch(spec)
	if err != nil {
		return nil, err
	}
	r := &replica{spec: spec, sketch: sketch, records: map[string]record{}, keys: map[uint64]string{}}
	return r, sketch.KeepKeys()
}

// hash returns the number of a record in the sketch.
func (r *replica) hash(one record) (uint64, error) {
	return r.spec.HashKey(fmt.Appendf(nil, "%q %d %q", one.Key, one.Version, one.Value))
}

// put takes a record, if it replaces the one that is there.
func (r *replica) put(one record) error {
	old, isThere := r.records[one.Key]
	if isThere && !one.replaces(old) {
		return nil
	}
	if isThere {
		hash, err := r.hash(old)
		if err != nil {
			return err
		}
		if err := r.sketch.RemoveHash(hash); err != nil {
			return err
		}
		delete(r.keys, hash)
	}
	hash, err := r.hash(one)
	if err != nil {
		return err
	}
	r.records[one.Key], r.keys[hash] = one, one.Key
	return r.sketch.InsertHash(hash)
}

// write writes a record anew; an empty value deletes it.
func (r *replica) write(key, value string) error {
	return r.put(record{key, r.records[key].Version + 1, value})
}

// link is a connection to the other replica.
type link struct {
	*gob.Encoder
	*gob.Decoder
}

func newLink(conn io.ReadWriter) link { return link{gob.NewEncoder(conn), gob.NewDecoder(conn)} }

// synchronize makes both replicas equal, and returns what the session cost and how many records came.
func (r *replica) synchronize(other link, role petal.SessionRole) (report petal.SessionStatistics, came int,
	err error) {
	session, err := petal.NewSession(r.sketch, role, nil)
	if err != nil {
		return report, 0, err
	}
	defer session.Close()
	if err := converse(session, other); err != nil {
		return report, 0, err
	}
	differences, err := session.Differences()
	if err != nil {
		return report, 0, err
	}
	var ours, theirs []record
	for _, one := range differences {
		if one.Sign > 0 {
			ours = append(ours, r.records[r.keys[one.Number]])
		}
	}
	// The initiator sends first, because nobody reads while both write.
	send := func() error { return other.Encode(ours) }
	receive := func() error { return other.Decode(&theirs) }
	steps := []func() error{send, receive}
	if role == petal.SessionRoleResponder {
		steps = []func() error{receive, send}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return report, 0, err
		}
	}
	for _, one := range theirs {
		if err := r.put(one); err != nil {
			return report, 0, err
		}
	}
	report, err = session.Statistics()
	return report, len(theirs), err
}

// converse carries the messages of a session to its end.
func converse(session *petal.Session, other link) error {
	var failed error
	for {
		switch session.Turn() {
		case petal.SessionTurnSend:
			message, err := session.Send()
			if err != nil {
				return err
			}
			if err := other.Encode(message); err != nil {
				return err
			}
		case petal.SessionTurnReceive:
			var message []byte
			if err := other.Decode(&message); err != nil {
				return err
			}
			// A session that fails has a message for the other side first. A session that refuses a message waits
			// for another message, and the connection has none.
			failed = session.Receive(message)
			if failed != nil && session.Turn() == petal.SessionTurnReceive {
				return failed
			}
		default:
			return failed
		}
	}
}

// run has two replicas write and synchronize in rounds, and compares them.
func run(s settings, out io.Writer) error {
	// Both replicas share a secret key, so that nobody else can write records with the same hash.
	spec := petal.Spec{Kind: "riblt", Capacity: 100, Hash: petal.SipHash13}
	if _, err := rand.Read(spec.Secret[:]); err != nil {
		return err
	}
	var replicas [2]*replica
	for i := range replicas {
		r, err := newReplica(spec)
		if err != nil {
			return err
		}
		defer r.sketch.Close()
		replicas[i] = r
		for n := range s.records {
			if err := r.write(name(n), "first"); err != nil {
				return err
			}
		}
	}
	ours, theirs := replicas[0], replicas[1]
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	to, from := newLink(near), newLink(far)
	random := mathrand.New(mathrand.NewPCG(1, 2))
	fmt.Fprintf(out, "%5s %9s %12s %-16s %9s %9s %9s\n", "round", "records", "estimate", "method", "messages", "bytes",
		"came")
	for round := range s.rounds {
		for i, r := range replicas {
			for range s.writes {
				value := fmt.Sprintf("round %d of %d", round, i)
				if random.IntN(5) == 0 {
					value = ""
				}
				// One write in five is of a new record.
				if err := r.write(name(random.IntN(s.records+s.records/4)), value); err != nil {
					return err
				}
			}
		}
		wanted := joined(ours.records, theirs.records)
		answered := make(chan error)
		go func() {
			_, _, err := theirs.synchronize(from, petal.SessionRoleResponder)
			if err != nil {
				far.Close()
			}
			answered <- err
		}()
		report, came, err := ours.synchronize(to, petal.SessionRoleInitiator)
		if err != nil {
			near.Close()
		}
		if err := errors.Join(err, <-answered); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if !maps.Equal(ours.records, wanted) || !maps.Equal(theirs.records, wanted) {
			return fmt.Errorf("round %d: the replicas differ", round)
		}
		fmt.Fprintf(out, "%5d %9d %12.0f %-16s %9d %9d %9d\n", round, len(wanted), report.EstimatedDifferences, report.Method,
			report.Messages, report.SentBytes+report.ReceivedBytes, came)
	}
	fmt.Fprintln(out, "the replicas are equal")
	return nil
}

// name returns the key of a record.
func name(n int) string { return strings.Repeat("k", 1+n%3) + fmt.Sprint(n) }

// joined returns what both tables have to become.
func joined(a, b map[string]record) map[string]record {
	all := maps.Clone(a)
	for key, one := range b {
		if old, isThere := all[key]; !isThere || one.replaces(old) {
			all[key] = one
		}
	}
	return all
}
