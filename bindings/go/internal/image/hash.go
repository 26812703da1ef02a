package image

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"github.com/petal-filter/petal/bindings/go/internal/secret"
	"github.com/zeebo/xxh3"
)

// errKeyUnwanted is the error for a secret key that an image cannot have.
var errKeyUnwanted = fmt.Errorf("%w: a secret key was given, but the image is not keyed", ErrContradiction)

// hasher makes the 64-bit hashes of keys. The zero value cannot hash.
type hasher struct {
	function Hash // 0 where keys cannot be hashed
	seed     uint64
	// key is behind a pointer, which package fmt prints instead of the key.
	key *sipKey
}

type sipKey [2]uint64

func newSipKey(key secret.Key) *sipKey {
	return &sipKey{binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])}
}

// identifier returns the identifier of the secret in images.
func (k sipKey) identifier() uint64 { return k.hash(2, 4, []byte("petal key identifier")) }

// newHasher makes the hasher of a header. A keyed hash function needs its key from the options.
func newHasher(h *Header, options *Options) (hasher, error) {
	key := secret.Key{}
	if options != nil {
		key = options.Secret
	}
	given := key != secret.Key{}
	if h.Hash != SipHash13 {
		if given {
			return hasher{}, errKeyUnwanted
		}
		if h.Hash == External {
			return hasher{}, nil
		}
		return hasher{function: h.Hash, seed: h.Identifier}, nil
	}
	if !given {
		return hasher{}, nil
	}
	sip := newSipKey(key)
	if sip.identifier() != h.Identifier {
		return hasher{}, ErrSecretMismatch
	}
	return hasher{function: SipHash13, key: sip}, nil
}

func (h *hasher) hash(key []byte) (hash uint64, ok bool) {
	switch h.function {
	case XXH3:
		return h.xxh3(key), true
	case XXH64:
		if h.seed == 0 {
			return xxhash.Sum64(key), true
		}
		var digest xxhash.Digest
		digest.ResetWithSeed(h.seed)
		_, _ = digest.Write(key)
		return digest.Sum64(), true
	case SipHash13:
		return h.key.hash(1, 3, key), true
	case Identity:
		if len(key) == 8 {
			return binary.LittleEndian.Uint64(key), true
		}
	}
	return 0, false
}

// identity is the 128 bits by which a map knows a key.
type identity struct{ low, high uint64 }

// identify returns the identity of a key.
func (h *hasher) identify(key []byte) (id identity, ok bool) {
	switch h.function {
	case XXH3:
		both := xxh3.Hash128Seed(key, h.seed)
		return identity{both.Lo, both.Hi}, true
	case XXH64:
		low, _ := h.hash(key)
		other := hasher{function: XXH64, seed: h.seed ^ golden}
		high, _ := other.hash(key)
		return identity{low, high}, true
	case SipHash13:
		return h.key.hash128(1, 3, key), true
	}
	return identity{}, false
}

func (h *hasher) identifyUint64(key uint64) (id identity, ok bool) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return h.identify(b[:])
}

// xxh3 is XXH3. Without a seed xxh3 is faster.
func (h *hasher) xxh3(key []byte) uint64 {
	if h.seed == 0 {
		return xxh3.Hash(key)
	}
	return xxh3.HashSeed(key, h.seed)
}

func (h *hasher) hashUint64(key uint64) (hash uint64, ok bool) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return h.hash(b[:])
}

// bytesOf returns the bytes of a string without a copy. The callee only reads the bytes, and only during the call.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// hash is SipHash-c-d (Aumasson and Bernstein, 2012).
func (k sipKey) hash(c, d int, message []byte) uint64 {
	v0, v1, v2, v3 := k.absorb(c, 0, message)
	v2 ^= 0xff
	for range d {
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	}
	return v0 ^ v1 ^ v2 ^ v3
}

// hash128 is the 128-bit form of SipHash-c-d.
func (k sipKey) hash128(c, d int, message []byte) (id identity) {
	v0, v1, v2, v3 := k.absorb(c, 0xee, message)
	v2 ^= 0xee
	for range d {
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	}
	id.low = v0 ^ v1 ^ v2 ^ v3
	v1 ^= 0xdd
	for range d {
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	}
	id.high = v0 ^ v1 ^ v2 ^ v3
	return id
}

// absorb returns the state after the message. The 128-bit form puts form into the state first.
func (k sipKey) absorb(c int, form uint64, message []byte) (v0, v1, v2, v3 uint64) {
	v0, v1 = k[0]^0x736f6d6570736575, k[1]^0x646f72616e646f6d^form
	v2, v3 = k[0]^0x6c7967656e657261, k[1]^0x7465646279746573
	last := uint64(len(message)) << 56
	for len(message) >= 8 {
		m := binary.LittleEndian.Uint64(message)
		v3 ^= m
		for range c {
			v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		}
		v0 ^= m
		message = message[8:]
	}
	for i, b := range message {
		last |= uint64(b) << (8 * i)
	}
	v3 ^= last
	for range c {
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	}
	v0 ^= last
	return v0, v1, v2, v3
}

func sipRound(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v2 += v3
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 = bits.RotateLeft64(v0, 32) + v3
	v2 += v1
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	return v0, v1, bits.RotateLeft64(v2, 32), v3
}
