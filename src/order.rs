//! Sorting. The sorts of the standard library are the fastest, but each sort of another type is 4 KB of code. Where
//! code is loaded over a network (`--cfg petal_small`, as `bindings/wasm` is built), one small sort is used instead.

use core::cmp::Ordering;

/// Sorts items. Equal items are in any order.
#[inline]
pub fn sort<T: Ord>(items: &mut [T]) {
    #[cfg(not(petal_small))]
    items.sort_unstable();
    #[cfg(petal_small)]
    heap_sort(items, |a, b| a < b);
}

/// Sorts items by keys. Items with the same key are in any order.
#[inline]
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    #[cfg(not(petal_small))]
    items.sort_unstable_by_key(key);
    #[cfg(petal_small)]
    heap_sort(items, |a, b| key(a) < key(b));
}

/// Sorts items in the caller's own order. Equal items are in any order.
#[inline]
pub fn sort_by<T>(items: &mut [T], order: impl Fn(&T, &T) -> Ordering) {
    #[cfg(not(petal_small))]
    items.sort_unstable_by(order);
    #[cfg(petal_small)]
    heap_sort(items, |a, b| order(a, b).is_lt());
}

/// Sorts a few items by keys. Items with the same key stay in their order. The time is quadratic at worst.
pub fn sort_few_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    for end in 1..items.len() {
        let mut place = end;
        while place > 0 && key(&items[place]) < key(&items[place - 1]) {
            items.swap(place - 1, place);
            place -= 1;
        }
    }
}

/// Heap sort (Williams, "Algorithm 232", 1964): at most O(n log n) comparisons for any items, without memory.
#[cfg(any(petal_small, test))]
fn heap_sort<T>(items: &mut [T], less: impl Fn(&T, &T) -> bool) {
    heap_sort_by(items.len(), &mut |i, j, is_swap| {
        if is_swap {
            items.swap(i, j);
            return true;
        }
        less(&items[i], &items[j])
    });
}

/// The part of [`heap_sort`] that is the same for all types. `step` swaps two items, or says whether the first is less.
#[cfg(any(petal_small, test))]
#[inline(never)]
fn heap_sort_by(count: usize, step: &mut dyn FnMut(usize, usize, bool) -> bool) {
    // The first half of the rounds makes a heap with the greatest item at its top, and the others take the top away.
    for round in (0..count + count / 2).rev() {
        let (mut parent, end) = match round.checked_sub(count) {
            Some(parent) => (parent, count),
            None => {
                step(0, round, true);
                (0, round)
            }
        };
        loop {
            let mut child = 2 * parent + 1;
            if child >= end {
                break;
            }
            if child + 1 < end && step(child, child + 1, false) {
                child += 1;
            }
            if !step(parent, child, false) {
                break;
            }
            step(parent, child, true);
            parent = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers, many of which are equal.
    fn numbers(count: u64, range: u64) -> Vec<u64> {
        (0..count).map(|i| crate::bits::reduce(crate::bits::mix(i), range)).collect()
    }

    #[test]
    fn the_small_sort_sorts() {
        for count in (0..70).chain([1000, 1023, 1024, 1025]) {
            for range in [1, 2, 30, u64::MAX] {
                let (mut ours, mut theirs) = (numbers(count, range), numbers(count, range));
                theirs.sort_unstable();
                heap_sort(&mut ours, |a, b| a < b);
                assert_eq!(ours, theirs, "{count} of {range}");
                heap_sort(&mut ours, |a, b| b < a);
                theirs.reverse();
                assert_eq!(ours, theirs, "{count} of {range}, backwards");
            }
        }
    }

    #[test]
    fn few_items_of_one_key_stay_in_their_order() {
        for count in 0..70 {
            let mut ours: Vec<_> = numbers(count, 9).into_iter().zip(0_u64..).collect();
            let mut theirs = ours.clone();
            theirs.sort_by_key(|item| item.0);
            sort_few_by_key(&mut ours, |item| item.0);
            assert_eq!(ours, theirs);
        }
    }
}
