package petal

import (
	"bytes"
	"errors"
	"math/rand"
	"path/filepath"
	"testing"
)

// smallDigest returns a digest of ten random payloads, and the payloads.
func smallDigest(t *testing.T, cut string) (*Digest, [][]byte) {
	t.Helper()
	d := must(NewDigest(Spec{
		Kind: "digest", Capacity: 20000,
		Parameters: map[string]string{"cut": cut, "payloads": "10", "bytes_per_byte": "0.4", "attachment_bytes": "9"},
	}))
	t.Cleanup(func() { check(t, d.Close()) })
	random := rand.New(rand.NewSource(1))
	var payloads [][]byte
	for id := range uint64(10) {
		payload := make([]byte, 2000)
		random.Read(payload)
		payloads = append(payloads, payload)
		if id%2 == 0 {
			check(t, d.Add(id, payload))
			continue
		}
		check(t, d.Begin(id))
		must(d.Write(payload[:777]))
		must(d.Write(nil))
		must(d.Write(payload[777:]))
		check(t, d.End())
	}
	return d, payloads
}

// finds says whether an excerpt is found in a payload at an offset.
func finds(t *testing.T, d *Digest, payloads [][]byte, id, at uint64) bool {
	t.Helper()
	found := must(d.Find(payloads[id][at:at+400], nil))
	for _, match := range found.Matches {
		if match.Payload == id && match.Offset <= at && at < match.Offset+match.Span {
			return found.Complete && found.Rate < 1e-3 && found.Lookups > 0
		}
	}
	return false
}

func TestDigestsFindExcerptsWhereTheyWere(t *testing.T) {
	for _, cut := range []string{"fixed", "content"} {
		d, payloads := smallDigest(t, cut)
		for id := range uint64(10) {
			if !finds(t, d, payloads, id, 100+111*id) {
				t.Errorf("cut %v: payload %d is not found", cut, id)
			}
		}
		nonMember := make([]byte, 400)
		rand.New(rand.NewSource(2)).Read(nonMember)
		found := must(d.Find(nonMember, &DigestFindOptions{MaxMatches: 3}))
		if len(found.Matches) != 0 || !found.NamesPayloads {
			t.Error(found)
		}
		image := must(d.MarshalBinary())
		var written bytes.Buffer
		if n := must(d.WriteTo(&written)); n != int64(len(image)) || !bytes.Equal(written.Bytes(), image) {
			t.Error("WriteTo and MarshalBinary differ")
		}
		path := filepath.Join(t.TempDir(), "digest")
		check(t, d.Save(path))
		for _, other := range []*Digest{must(LoadDigest(image, nil)), must(OpenDigest(path, nil)), must(d.Copy())} {
			check(t, other.Verify())
			if !finds(t, other, payloads, 7, 1234) {
				t.Error("an image does not find what its digest finds")
			}
			check(t, other.Close())
		}
	}
}

func TestDigestsSayTheirRates(t *testing.T) {
	d, _ := smallDigest(t, "fixed")
	length := must(d.ShortestExcerptAt(1e-9))
	if d.ShortestExcerpt() != 63 || length < 63 || must(d.ExpectedRate(length)) > 1e-9 {
		t.Error(d.ShortestExcerpt(), length)
	}
	told := must(d.Statistics())
	if told.Payloads != 10 || told.Longest != 2000 || told.Entries != 2*62*10 || told.Fill > 0.6 || told.EntryRate > 0.01 {
		t.Error(told)
	}
	if id, bytes, err := d.PayloadAt(9); id != 9 || bytes != 2000 || err != nil {
		t.Error(id, bytes, err)
	}
	if description := must(d.Describe()); uint32(description.Kind) != 1280 || description.Insertions != 20000 {
		t.Error(description)
	}
	check(t, d.Attach([]byte("names")))
	if kept := must(d.Attachment()); string(kept) != "names" {
		t.Error(kept)
	}
	if d.Capabilities() == 0 {
		t.Error("no capabilities")
	}
	check(t, d.Sync())
	check(t, d.MarkClean())
	check(t, d.Clear())
	if told := must(d.Statistics()); told.Payloads != 0 {
		t.Error(told)
	}
}

func TestDigestsSayWhatIsWrong(t *testing.T) {
	d, payloads := smallDigest(t, "fixed")
	refused := func(err error, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%v is not %v", err, want)
		}
	}
	refused(d.Add(11, payloads[0]), ErrFull)
	refused(d.End(), ErrContradiction)
	refused(d.Attach(payloads[0]), ErrTooLarge)
	_, err := d.Find(payloads[0][:62], nil)
	refused(err, ErrOutOfRange)
	_, err = d.Find(payloads[0], &DigestFindOptions{MaxExcerpt: 1999})
	refused(err, ErrOutOfRange)
	_, err = d.Write(payloads[0])
	refused(err, ErrContradiction)
	if found := must(d.Find(payloads[0], &DigestFindOptions{MaxLookups: 1})); found.Complete {
		t.Error(found)
	}
	_, _, err = d.PayloadAt(10)
	refused(err, ErrOutOfRange)
	_, err = NewDigest(Spec{Kind: "bloom"})
	refused(err, ErrUnsupported)
	check(t, d.Close())
	_, err = d.Find(payloads[0], nil)
	if err == nil {
		t.Error("a closed digest finds")
	}
}
