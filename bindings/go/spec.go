package petal

// #include "keys.h"
import "C"

import (
	"strconv"
	"unsafe"
)

// Hash is a hash function.
type Hash uint32

// The hash functions.
const (
	// XXH3 is the default: 64 bits, seeded. XXH3 is not for keys that an attacker may choose.
	XXH3 Hash = C.PETAL_HASH_XXH3
	// XXH64, seeded, is what Apache Parquet's filters use, with seed 0.
	XXH64 Hash = C.PETAL_HASH_XXH64
	// SipHash13 has a secret key: for keys that an attacker may choose.
	SipHash13 Hash = C.PETAL_HASH_SIPHASH13
	// External means that your program hashes: the filter takes only 64-bit hashes, which must be uniform in all bits.
	External Hash = C.PETAL_HASH_EXTERNAL
	// FormatHash is the hash function of another system's format, over whole keys. Only filters of [ImportFilter] and
	// [FormatSpec] have it.
	FormatHash Hash = C.PETAL_HASH_FORMAT
	// XXPH3 is the preview of XXH3 that RocksDB's filters use, without a seed.
	XXPH3 Hash = C.PETAL_HASH_XXPH3
	// Identity is no hash function: keys are integers. Kinds with [KindInfo.TakesIntegers] have it, and no other kind.
	Identity Hash = C.PETAL_HASH_IDENTITY
	// SipHash24 has a key that BIP 158 makes public. Filters of the format bip158 use it.
	SipHash24 Hash = C.PETAL_HASH_SIPHASH24
	// DigestHash means that your program hashes with MD5, SHA or BLAKE3, and keys are the digests ([DigestKeys]). Seed is
	// the number of bits of a digest: a multiple of 8 from 128 to 512. Only for the kind bloom.
	DigestHash Hash = C.PETAL_HASH_DIGEST
)

// Kernel is an instruction set for which the library has inner loops. The inner loops of all kernels give the same
// bytes and answers.
type Kernel uint32

// The kernels.
const (
	KernelBest     Kernel = C.PETAL_KERNEL_BEST
	KernelPortable Kernel = C.PETAL_KERNEL_PORTABLE
	KernelAVX2     Kernel = C.PETAL_KERNEL_AVX2
	KernelAVX512   Kernel = C.PETAL_KERNEL_AVX512
	KernelNEON     Kernel = C.PETAL_KERNEL_NEON
)

// Spec says what filter to make: a capacity and a false-positive rate, or exact bits and hashes. The zero value is a
// whole spec: the default kind, for a million keys, at a rate of 1 %.
type Spec struct {
	// Kind is the name of the kind; [Kinds] lists them. Empty is the default kind.
	Kind string `json:"kind,omitzero"`
	// Hash is the hash function; 0 is XXH3.
	Hash Hash `json:"hash,omitzero"`
	// Capacity is the number of distinct keys that the filter has room for; 0 means a million, or unknown if Bits is set.
	Capacity uint64 `json:"capacity,omitzero"`
	// FalsePositiveRate is the greatest rate at capacity, inside (0, 1); 0 means 0.01 unless Bits is set.
	FalsePositiveRate float64 `json:"false_positive_rate,omitzero"`
	// Bits is the exact number of bits, instead of a rate.
	Bits uint64 `json:"bits,omitzero"`
	// Hashes is the exact number of bits that a key sets, with Bits; 0 is the best for Bits and Capacity.
	Hashes uint32 `json:"hashes,omitzero"`
	// Kernel chooses an instruction set, for comparisons; 0 is the best that the processor has.
	Kernel Kernel `json:"kernel,omitzero"`
	// Seed is the seed of XXH3 and XXH64, your tag for External, and for DigestHash the number of bits of a digest. A seed
	// is not a secret.
	Seed uint64 `json:"seed,omitzero"`
	// Secret is the secret key of SipHash13 or SipHash24, not all zeros. Files never contain the key.
	Secret Secret `json:"-"`
	// Parameters are the parameters that only some kinds take, by name: numbers as digits, choices by name.
	Parameters map[string]string `json:"parameters,omitzero"`
}

// raw returns the spec in the library's form.
func (s *Spec) raw() (C.petal_spec, error) {
	raw := C.petal_spec{
		struct_size:         C.size_t(unsafe.Sizeof(C.petal_spec{})),
		hash:                C.petal_hash_function(s.Hash),
		capacity:            C.uint64_t(s.Capacity),
		false_positive_rate: C.double(s.FalsePositiveRate),
		bits:                C.uint64_t(s.Bits),
		hashes:              C.uint32_t(s.Hashes),
		kernel:              C.petal_kernel(s.Kernel),
		seed:                C.uint64_t(s.Seed),
	}
	for i, b := range s.Secret {
		raw.secret[i] = C.uint8_t(b)
	}
	if s.Kind != "" {
		kind, err := FindKind(s.Kind)
		if err != nil {
			return raw, err
		}
		raw.kind = C.petal_kind(kind.Kind)
	}
	for name, value := range s.Parameters {
		if err := setParameter(&raw, name, value); err != nil {
			return raw, err
		}
	}
	return raw, nil
}

func setParameter(raw *C.petal_spec, name, value string) error {
	const op = "petal.Spec.Parameters"
	if err := withoutNUL(op, "a name", name); err != nil {
		return err
	}
	if err := withoutNUL(op, "a value", value); err != nil {
		return err
	}
	return called(op, func(failure *C.petal_error) {
		C.petal_spec_set_choice(raw, cString(name), cString(value), failure)
	})
}

// ImageSize returns the size in bytes of the complete image of the filter that the spec describes.
func (s Spec) ImageSize() (uint64, error) {
	return ofSpec("petal.Spec.ImageSize", &s, func(raw *C.petal_spec, size *uint64, failure *C.petal_error) {
		C.petal_spec_image_size(raw, (*C.uint64_t)(size), failure)
	})
}

// ExpectedFalsePositiveRate returns the exact rate of the filter that the spec describes with that many distinct keys
// in it.
func (s Spec) ExpectedFalsePositiveRate(keys uint64) (float64, error) {
	const op = "petal.Spec.ExpectedFalsePositiveRate"
	return ofSpec(op, &s, func(raw *C.petal_spec, rate *float64, failure *C.petal_error) {
		C.petal_spec_expected_false_positive_rate(raw, C.uint64_t(keys), (*C.double)(rate), failure)
	})
}

// ExpectedOmissions returns the average number of omissions when keys distinct keys are inserted, one after the other,
// into the filter that the spec describes. An omission is a new key that the filter takes for a known one, or that it
// refuses because it is full. A model checker that explores only new states omits this many states. Returns
// [ErrUnsupported] for a kind that is built from its keys.
func (s Spec) ExpectedOmissions(keys uint64) (float64, error) {
	return ofSpec("petal.Spec.ExpectedOmissions", &s, func(raw *C.petal_spec, omissions *float64, failure *C.petal_error) {
		C.petal_spec_expected_omissions(raw, C.uint64_t(keys), (*C.double)(omissions), failure)
	})
}

// HashKey returns the hash of a key under the spec's hash function, seed and secret; the rest of the spec does not
// matter. [Filter.Hash] of an open filter is faster.
func (s Spec) HashKey(key []byte) (uint64, error) {
	return ofSpec("petal.Spec.HashKey", &s, func(raw *C.petal_spec, hash *uint64, failure *C.petal_error) {
		C.petal_go_spec_hash(raw, bytesOf(key), C.size_t(len(key)), (*C.uint64_t)(hash), failure)
	})
}

// HashUint64 is [Spec.HashKey] for the eight little-endian bytes of a number.
func (s Spec) HashUint64(key uint64) (uint64, error) {
	return ofSpec("petal.Spec.HashUint64", &s, func(raw *C.petal_spec, hash *uint64, failure *C.petal_error) {
		C.petal_go_spec_hash(raw, numberOf(&key), 8, (*C.uint64_t)(hash), failure)
	})
}

// ofSpec returns the value that a call of the library computes from a spec.
func ofSpec[T any](op string, s *Spec, call func(*C.petal_spec, *T, *C.petal_error)) (answer T, err error) {
	raw, err := s.raw()
	if err == nil {
		err = called(op, func(failure *C.petal_error) { call(&raw, &answer, failure) })
	}
	return answer, err
}

// writtenSpec returns the spec that a call of the library writes.
func writtenSpec(op string, call func(*C.petal_spec, *C.petal_error)) (Spec, error) {
	raw := C.petal_spec{struct_size: C.size_t(unsafe.Sizeof(C.petal_spec{}))}
	if err := called(op, func(failure *C.petal_error) { call(&raw, failure) }); err != nil {
		return Spec{}, err
	}
	return specOf(&raw)
}

// specOf reads a spec that the library wrote.
func specOf(raw *C.petal_spec) (Spec, error) {
	kind := Kind(raw.kind)
	s := Spec{
		Kind:              kind.String(),
		Hash:              Hash(raw.hash),
		Capacity:          uint64(raw.capacity),
		FalsePositiveRate: float64(raw.false_positive_rate),
		Bits:              uint64(raw.bits),
		Hashes:            uint32(raw.hashes),
		Kernel:            Kernel(raw.kernel),
		Seed:              uint64(raw.seed),
	}
	parameters, err := kind.Parameters()
	if err != nil {
		return s, err
	}
	for _, setting := range raw.parameters {
		for _, parameter := range parameters {
			if setting.id == 0 || parameter.id != uint32(setting.id) {
				continue
			}
			if s.Parameters == nil {
				s.Parameters = map[string]string{}
			}
			s.Parameters[parameter.Name] = parameter.format(float64(setting.value))
		}
	}
	return s, nil
}

// format writes a parameter's value in the form that a spec takes.
func (p *ParameterInfo) format(value float64) string {
	if choice := int(value); choice >= 0 && choice < len(p.Choices) {
		return p.Choices[choice]
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}
