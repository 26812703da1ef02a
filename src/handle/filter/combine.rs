//! The calls that change a filter as a whole: clear, merge, intersect, fold, resize, advance.

use super::Filter;
use crate::contract::{Capabilities, Kind, check_compatible};
use crate::error::Result;
#[cfg(doc)]
use crate::error::Status;
use crate::format::{Geometry, Header};
use crate::handle::image::Image;

impl Filter {
    /// Forgets all keys.
    ///
    /// # Errors
    /// [`Status::Unsupported`].
    pub fn clear(&mut self) -> Result<()> {
        self.check_capability("clear", Capabilities::CLEAR)?;
        self.kind.reset()?;
        self.base_mut().set_count(0);
        Ok(())
    }

    /// Becomes the union of both filters, which says true for every key for which either filter did. In a canonical
    /// kind the union has the same bits as a filter into which the keys of both were inserted. In kinds that grow, the
    /// union's rate may be twice the rate that each filter keeps to. If the other filter is unclean, this one becomes
    /// unclean too, until somebody marks it clean.
    ///
    /// # Errors
    /// [`Status::Incompatible`], naming the first difference; [`Status::Unsupported`]; [`Status::Full`] if there is no
    /// room for both; [`Status::Corrupt`] if either filter lies in an image that does not match its checksums. The
    /// filter then stays as it was.
    pub fn merge(&mut self, other: &Filter) -> Result<()> {
        let count = self.count_now().saturating_add(other.count_now());
        self.check_kind("merge", Capabilities::MERGE)?;
        self.combine(other, count, |kind, other| kind.as_merge().map(|kind| kind.merge_with(other)), "merge")
    }

    /// Becomes a filter that holds every key that both filters hold, and says true for others at a rate no higher than
    /// either's now. The count becomes the smaller of both counts, which bounds the number of insertions to both. If
    /// the other filter is unclean, this one becomes unclean too, until somebody marks it clean.
    ///
    /// # Errors
    /// As [`Filter::merge`].
    pub fn intersect(&mut self, other: &Filter) -> Result<()> {
        self.check_kind("intersect", Capabilities::INTERSECT)?;
        let count = self.count_now().min(other.count_now());
        self.combine(
            other,
            count,
            |kind, other| kind.as_intersect().map(|kind| kind.intersect_with(other)),
            "intersect",
        )
    }

    fn combine(
        &mut self,
        other: &Filter,
        count: u64,
        combine: impl FnOnce(&mut dyn Kind, &dyn Kind) -> Option<Result<()>>,
        operation: &str,
    ) -> Result<()> {
        check_compatible(self.base(), other.base())?;
        let stays_unclean = other.base().check_marked_clean()?;
        for filter in [&*self, other].into_iter().filter(|filter| !filter.base().is_own()) {
            filter.payload().check_payload()?;
        }
        match combine(&mut *self.kind, &*other.kind) {
            Some(outcome) => outcome?,
            None => return Err(self.unsupported(operation)),
        }
        self.base_mut().set_count(count);
        if stays_unclean || other.base().stays_unclean() {
            self.base_mut().taint();
        }
        Ok(())
    }

    fn count_now(&self) -> u64 {
        self.base().count_now()
    }

    /// Gives the filter room for `capacity` keys, including those that it holds, without needing these keys. Kinds like
    /// `quotient` can do so: their slots are doubled or halved while a bit moves between a slot's number and its
    /// content. The rate at the same number of keys does not change, but at the new capacity the rate is another one.
    /// The filter stays compatible with the same filters.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] if there is no such size; [`Status::Full`] if the new size would not hold the present
    /// entries; [`Status::Unsupported`]. The filter then stays as it was.
    pub fn resize(&mut self, capacity: u64) -> Result<()> {
        self.check_capability("resize", Capabilities::RESIZE)?;
        let capacity = match self.kind.as_resize() {
            Some(kind) => kind.resize_for(capacity)?,
            None => return Err(self.unsupported("resize")),
        };
        let is_promised = self.base().header().false_positive_rate != 0.0;
        let expected = self.expected_false_positive_rate(capacity);
        let base = self.base_mut();
        base.set_capacity(capacity);
        if is_promised {
            base.promise(expected);
        }
        Ok(())
    }

    /// Moves time on by `steps` steps, in a kind that forgets its oldest keys. Each step forgets the keys that are the
    /// oldest then. Each kind says what a step is, and for how many steps at least a key is found. More steps than a
    /// key is kept for do no more than that many. The count of insertions stays.
    ///
    /// In an image in place the bits of forgotten keys are cleared while readers go on.
    ///
    /// # Errors
    /// [`Status::Unsupported`]; [`Status::Corrupt`] if an image in place does not match its checksums. The filter then
    /// stays as it was.
    pub fn advance(&mut self, steps: u64) -> Result<()> {
        self.check_capability("age", Capabilities::AGE)?;
        match self.kind.as_age() {
            Some(kind) => kind.advance_by(steps),
            None => Err(self.unsupported("age")),
        }
    }

    /// Moves time on by `steps` steps while others insert and look up, in this process or another one. See
    /// [`SharedAge`](crate::contract::SharedAge) for the guarantees.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind cannot, or the image was not opened to be shared; the errors of
    /// [`advance_by_shared`](crate::contract::SharedAge::advance_by_shared).
    pub fn advance_shared(&self, steps: u64) -> Result<()> {
        let age = self.kind.as_shared_age().ok_or_else(|| self.unsupported("be moved on while others insert"))?;
        self.base().check_shared()?;
        age.advance_by_shared(steps)
    }

    /// How many units folding divides: bits, bits of a slice, or blocks; `None` if the kind or the handle cannot fold.
    pub fn fold_units(&mut self) -> Option<u64> {
        self.check_capability("fold", Capabilities::FOLD).ok()?;
        Some(self.kind.as_fold()?.units())
    }

    /// The header's geometry after a fold, without folding.
    ///
    /// # Errors
    /// As [`Filter::fold`].
    pub fn folded_geometry(&mut self, factor: u64) -> Result<Geometry> {
        match self.kind.as_fold() {
            Some(kind) => kind.folded_geometry(factor),
            None => Err(self.unsupported("fold")),
        }
    }

    /// Makes the filter smaller by `factor`. The filter then has the same bits as one that was made with the smaller
    /// size.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] if `factor` does not divide the number of units; [`Status::Unsupported`].
    pub fn fold(&mut self, factor: u64) -> Result<()> {
        self.check_capability("fold", Capabilities::FOLD)?;
        match self.kind.as_fold() {
            Some(kind) => kind.fold_units(factor)?,
            None => return Err(self.unsupported("fold")),
        }
        let Header { capacity, false_positive_rate, .. } = *self.base().header();
        if false_positive_rate != 0.0 {
            // The filter now promises the rate that the smaller geometry gives.
            let expected = self.expected_false_positive_rate(capacity);
            self.base_mut().promise(expected);
        }
        Ok(())
    }
}
