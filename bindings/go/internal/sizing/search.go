package sizing

// Rates fall as sizes grow. The search finds the least size that keeps a rate.

// least returns the least x in 1..limit for which holds returns true, if holds is true above some threshold; false if
// holds is never true. The search steps away from the guess in doubling strides, and then bisects: O(log |guess -
// answer|) evaluations.
func least(guess, limit uint64, holds func(uint64) bool) (uint64, bool) {
	if limit == 0 {
		return 0, false
	}
	guess = min(max(guess, 1), limit)
	stride := uint64(1)
	// holds is false at below (at 0 by convention) and true at above.
	var below, above uint64
	if holds(guess) {
		above = guess
		for {
			below = above - min(above, stride)
			if below == 0 || !holds(below) {
				break
			}
			above = below
			stride = saturatingMul(stride, 2)
		}
	} else {
		below = guess
		for {
			if below == limit {
				return 0, false
			}
			above = min(saturatingAdd(below, stride), limit)
			if holds(above) {
				break
			}
			below = above
			stride = saturatingMul(stride, 2)
		}
	}
	for above-below > 1 {
		if middle := below + (above-below)/2; holds(middle) {
			above = middle
		} else {
			below = middle
		}
	}
	return above, true
}

// valley returns the integer in 1..limit with the least cost; of equal ones the smallest. The costs must have a single
// valley.
func valley[T any](guess, limit uint64, cost func(uint64) T, compare func(a, b T) int) uint64 {
	start := min(max(guess, 1), max(limit, 1))
	best, lowest := start, cost(start)
	for best > 1 {
		next := cost(best - 1)
		if compare(next, lowest) > 0 {
			break
		}
		best, lowest = best-1, next
	}
	if best == start {
		for best < limit {
			next := cost(best + 1)
			if compare(next, lowest) >= 0 {
				break
			}
			best, lowest = best+1, next
		}
	}
	return best
}

// leastReal returns about the least x in 1..limit for which holds returns true: at most a thousandth above it, and not
// below it. The guess is too low, or a little too high. The second result is false if there is no such x.
func leastReal(guess, limit float64, holds func(float64) bool) (float64, bool) {
	below, above := guess*0.7, guess
	for !holds(above) {
		if above >= limit {
			return 0, false
		}
		below, above = above, above*1.5
	}
	for above-below > 1e-3*above && above-below > 0.5 {
		if middle := 0.5 * (below + above); holds(middle) {
			above = middle
		} else {
			below = middle
		}
	}
	return above, true
}
