// Package bench compares Petal's Go packages with others that Go programs use. The package is a separate module, so
// that those packages do not become requirements of Petal's.
package bench

/*
#cgo LDFLAGS: -lpetal
#include <petal.h>
#include <time.h>

// Looks up `batch` keys at a time, `rounds` times, going round through `count` keys; the nanoseconds that it took.
static double batches(const petal_filter *filter, const uint64_t *keys, size_t count, size_t batch, long rounds,
                      uint8_t *found) {
  struct timespec start, end;
  uint64_t sum = 0;
  petal_answers answers = {.struct_size = sizeof answers, .bytes = found};
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long round = 0; round < rounds; round++) {
    petal_keys some = petal_keys_u64(keys + (size_t)round * batch % count, batch);
    petal_filter_contains_batch(filter, &some, &answers, NULL);
    sum += answers.true_count;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  // Nobody asks for the sum, but the compiler does not know.
  return sum == (uint64_t)-1 ? 0 : (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
}
*/
import "C"

import (
	"errors"
	"unsafe"
)

// cBatches looks batches of keys up in a loop of C, without a call from Go for each batch. The result is in
// nanoseconds.
func cBatches(image []byte, keys []uint64, batch, rounds int) (float64, error) {
	var filter *C.petal_filter
	if C.petal_filter_load(unsafe.Pointer(&image[0]), C.size_t(len(image)), nil, &filter, nil) != C.PETAL_OK {
		return 0, errors.New("the image does not load")
	}
	defer C.petal_filter_free(filter)
	found := make([]byte, batch)
	first := (*C.uint64_t)(&keys[0])
	return float64(C.batches(filter, first, C.size_t(len(keys)), C.size_t(batch), C.long(rounds),
		(*C.uint8_t)(&found[0]))), nil
}
