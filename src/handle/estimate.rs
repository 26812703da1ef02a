//! Estimates of how many keys filters hold, alone and in common, from their bits.
//!
//! The count from the fill is by Swamidass and Baldi, "Mathematical correction for fingerprint similarity measures",
//! 2007. The intersection is |A| + |B| - |A or B|. Algebraically that is the estimate from the AND by Papapetrou,
//! Siberski and Nejdl, "Cardinality estimation and dynamic length adaptation for Bloom filters", 2010. Duplicates do
//! not matter, because they set no new bits.

use crate::contract::{INTERVAL_SIGMAS, check_compatible};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::Image;

/// An estimate with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimated number, not rounded: that of an intersection may be negative.
    pub value: f64,
    /// The estimate's standard error, or a bound on it if several estimates enter.
    pub standard_error: f64,
}

impl Estimate {
    /// The lower end of the 95 % interval.
    pub fn low(&self) -> f64 {
        self.value - INTERVAL_SIGMAS * self.standard_error
    }

    /// The upper end of the 95 % interval.
    pub fn high(&self) -> f64 {
        self.value + INTERVAL_SIGMAS * self.standard_error
    }
}

/// What two filters have in common. A number is `None` if a filter is saturated: so full that its bits say nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// The number of distinct keys of the first filter.
    pub first: Option<Estimate>,
    /// The number of distinct keys of the second filter.
    pub second: Option<Estimate>,
    /// The number of distinct keys of both filters together.
    pub union: Option<Estimate>,
    /// The number of keys in common. The estimate's error does not depend on its size: a small overlap of large sets
    /// cannot be told from none.
    pub intersection: Option<Estimate>,
    /// The keys in common as a share of all keys: the Jaccard index.
    pub jaccard: Option<Estimate>,
    /// The number of keys that only one of the filters has. The estimate's error grows with that number, and not with
    /// the size of the sets, so if the sets are nearly the same, this error is much smaller than the others.
    pub differences: Option<Estimate>,
}

/// How many distinct keys a filter holds; `None` if it is saturated. Reads the whole payload.
///
/// # Errors
/// [`Status::Unsupported`](crate::Status::Unsupported) if the kind cannot estimate.
pub fn estimate(filter: &Filter) -> Result<Option<Estimate>> {
    let kind = filter.kind().as_cardinality().ok_or_else(|| unsupported(filter, "estimate how many keys they hold"))?;
    Ok(kind.of_payload().map(|value| Estimate { value, standard_error: kind.standard_error(value) }))
}

/// Compares two filters that could be merged. Reads both payloads.
///
/// # Errors
/// [`Status::Incompatible`](crate::Status::Incompatible), naming the first difference;
/// [`Status::Unsupported`](crate::Status::Unsupported) if the kind cannot estimate.
pub fn estimate_overlap(first: &Filter, second: &Filter) -> Result<Overlap> {
    let kind = first.kind().as_overlap().ok_or_else(|| unsupported(first, "estimate what two hold together"))?;
    check_compatible(first.base(), second.base())?;
    let union = kind.of_union(second.kind());
    let union = union.map(|value| Estimate { value, standard_error: kind.standard_error(value) });
    let (first, second) = (estimate(first)?, estimate(second)?);
    let all = first.zip(second).zip(union).map(|((first, second), union)| (first, second, union));
    let intersection = all.map(|(first, second, union)| Estimate {
        value: first.value + second.value - union.value,
        standard_error: first.standard_error + second.standard_error + union.standard_error,
    });
    // J = (|A| + |B|) / |A or B| - 1, and the errors at most add up. Two empty filters share nothing.
    let jaccard = all.map(|(first, second, union)| {
        if union.value <= 0.0 {
            return Estimate { value: 0.0, standard_error: 0.0 };
        }
        let sum = first.value + second.value;
        let errors = first.standard_error + second.standard_error + sum / union.value * union.standard_error;
        Estimate { value: sum / union.value - 1.0, standard_error: errors / union.value }
    });
    let differences =
        all.map(|(first, second, union)| differences(&|keys| kind.standard_error(keys), first, second, union));
    Ok(Overlap { first, second, union, intersection, jaccard, differences })
}

/// The number of differences: 2 |A or B| - |A| - |B|.
///
/// Keys in common cause the same error in all three estimates. Let V(n) be the variance of an estimate of n keys. While
/// keys are added to a set, the further error of its estimate does not depend on the error so far. So if one set lies
/// inside the other, the covariance of their estimates is the variance for the smaller set. Likewise the covariance of
/// the estimates of A and B is the variance for the keys in common. Hence the variance is 4 V(A or B) - 3 V(A) - 3
/// V(B) + 2 V(A and B).
fn differences(error: &dyn Fn(f64) -> f64, first: Estimate, second: Estimate, union: Estimate) -> Estimate {
    let variance = |estimate: Estimate| estimate.standard_error * estimate.standard_error;
    let in_common = error((first.value + second.value - union.value).max(0.0));
    let sum = 4.0 * variance(union) - 3.0 * (variance(first) + variance(second)) + 2.0 * in_common * in_common;
    Estimate { value: 2.0 * union.value - first.value - second.value, standard_error: sum.max(0.0).sqrt() }
}

fn unsupported(filter: &Filter, what: &str) -> crate::Error {
    error!(Unsupported, "filters of the kind {} cannot {what}", filter.base().row().name)
}
