//! `petal fold`.

use crate::args;
use crate::failure::{Failure, Outcome, note};
use crate::file_name::name;
use crate::image_file::open_sound;
use crate::info::{self, Summary};
use crate::numbers::short;
use crate::output::Destination;
use petal::{Filter, Image, Mode};
use serde::Serialize;

pub fn run(args: &args::Fold, common: args::Common) -> Outcome {
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    let mut filter = open_sound(&args.filter, Mode::Load)?;
    // Duplicates do not fill a filter, so the estimate is better than the count. A filter without an estimate takes the
    // count, which is an upper bound.
    let keys = filter.cardinality().map_or(filter.base().count(), |keys| keys.round() as u64);
    match greatest_factor(&mut filter, keys, args.fpr).map_err(|error| Failure::at(&args.filter, &error))? {
        Ok(factor) => {
            filter.fold(factor)?;
            destination.write(&filter)?;
            if common.json {
                let summary = Summary::of(destination.path(), &filter);
                info::print_json(&Summary { factor: Some(factor), ..summary })?;
            } else {
                let (bytes, rate) = (filter.serialized_size(), short(filter.false_positive_rate()));
                note(format_args!("folded by {factor}, to {bytes} bytes; the false-positive rate is now {rate}"));
            }
            Ok(0)
        }
        Err(reason) => {
            if common.json {
                info::print_json(&Unchanged { file: None, factor: 1, reason })?;
            } else {
                note(format_args!("{}: nothing to fold, and nothing written: {reason}", name(&args.filter)));
            }
            Ok(1)
        }
    }
}

/// The report as JSON if nothing was written.
#[derive(Serialize)]
struct Unchanged {
    file: Option<String>,
    factor: u64,
    reason: String,
}

/// The greatest factor with an expected rate of at most `rate` for `keys` keys, or the reason why there is none.
fn greatest_factor(filter: &mut Filter, keys: u64, rate: f64) -> petal::Result<Result<u64, String>> {
    let row = filter.base().row();
    let Some(units) = filter.fold_units() else {
        return Ok(Err(format!("the kind {} cannot fold", row.name)));
    };
    let mut factors = divisors(units);
    factors.retain(|factor| *factor > 1);
    let Some(least) = factors.first().copied() else {
        return Ok(Err(String::from("it is as small as can be")));
    };
    let mut predict =
        |factor| filter.folded_geometry(factor).map(|geometry| (row.false_positive_rate)(&geometry, keys));
    // The rate never falls as the factor grows.
    let mut fit = 0;
    while let Some(factor) = factors.get(fit) {
        if predict(*factor)? > rate {
            break;
        }
        fit += 1;
    }
    if fit > 0 {
        return Ok(Ok(factors[fit - 1]));
    }
    let least_rate = short(predict(least)?);
    Ok(Err(format!(
        "with {keys} keys the least factor, {least}, makes a false-positive rate of {least_rate}, above --fpr {rate}"
    )))
}

/// All divisors of a number, in ascending order, in O(sqrt(number)) steps.
fn divisors(number: u64) -> Vec<u64> {
    let root = number.isqrt();
    let small: Vec<u64> = (1..=root).filter(|divisor| number.is_multiple_of(*divisor)).collect();
    let large = small.iter().rev().map(|divisor| number / divisor).filter(|divisor| *divisor > root);
    small.iter().copied().chain(large).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_are_all_and_in_order() {
        assert_eq!(divisors(1), [1]);
        assert_eq!(divisors(12), [1, 2, 3, 4, 6, 12]);
        assert_eq!(divisors(49), [1, 7, 49]);
        assert_eq!(divisors(97), [1, 97]);
        assert!(divisors(0).is_empty());
    }
}
