//! Makes a filter, of a kind that is made empty, from all hashes of a builder.

use super::added::Offer;
use super::collect::Collector;
use super::create;
use super::progress::Steps;
use crate::batch::keys::Keys;
use crate::contract::{COPY_PLACES, Progress, Records, Row};
use crate::error::{Result, Status, error};
use crate::format::Geometry;
use crate::handle::filter::Filter;
use crate::handle::image::Image;
use crate::spec::Spec;
use crate::storage::try_vec;

/// Geometries that were computed before, of specs that differ only in their capacity. Computing a geometry takes as
/// long as inserting hundreds of keys. A builder that is used again and again, for the blocks of a table, meets the
/// same few capacities.
#[derive(Default)]
pub struct Sizes(Vec<(u64, Geometry)>);

/// How many geometries are kept. Each one's place is its capacity modulo this number.
const SIZES: usize = 256;

impl Sizes {
    /// The geometry that [`create::geometry`] gives for a spec.
    pub fn of(&mut self, spec: &Spec) -> Result<Geometry> {
        if let Some((_, geometry)) = self.0.get(spec.capacity as usize % SIZES).filter(|(of, _)| *of == spec.capacity) {
            return Ok(*geometry);
        }
        let geometry = create::geometry(spec)?;
        if spec.capacity < SIZES as u64 * 16 {
            if self.0.is_empty() {
                self.0 = try_vec(SIZES)?;
                self.0.resize(SIZES, (0, Geometry::default()));
            }
            self.0[spec.capacity as usize % SIZES] = (spec.capacity, geometry);
        }
        Ok(geometry)
    }
}

/// If a kind counts, a hash that came `n` times is inserted as `n` hashes of a batch, up to this `n`.
const SEVERAL: u64 = 4;

/// A filter of a kind that is made empty, with all hashes inserted in order. If the kind counts or removes, each hash
/// is inserted as often as it was offered, `added` times for all hashes together.
pub fn insert_all<R: Offer>(
    spec: &Spec,
    row: &'static Row,
    sizes: &mut Sizes,
    hashes: &mut Collector<R>,
    added: u64,
    progress: Option<&mut Progress>,
) -> Result<Filter> {
    let mut steps = Steps::new(progress, hashes.work() + hashes.kept());
    let hashes = hashes.finish(0, &mut steps)?;
    let distinct = hashes.count();
    // If every copy of a key takes a place near the others, copies take more room than that many distinct keys.
    let copies = if row.room.copies.is_some() { added.saturating_sub(distinct) } else { 0 };
    let mut places = copies.saturating_mul(COPY_PLACES).saturating_add(distinct);
    if let (Some(places_of), 0, 0) = (row.room.places, spec.capacity, spec.bits) {
        // A counter takes as many places as it has digits.
        let geometry = sizes.of(&Spec { capacity: distinct.max(1), ..*spec })?;
        places = 0;
        hashes.for_each(&mut |records| {
            let each = records.iter().map(|record| places_of(&geometry, record.times()));
            places = each.fold(places, u64::saturating_add);
            Ok(())
        })?;
    }
    let capacity = if spec.capacity == 0 && spec.bits == 0 { places.max(1) } else { spec.capacity };
    let spec = &Spec { capacity, ..*spec };
    let mut filter: Filter = create::create_sized(row, spec, sizes.of(spec)?)?;
    let several = match filter.kind().as_count() {
        // This kind has a counter for each key, which may hold any number.
        Some(_) if row.room.places.is_some() => 0,
        Some(_) => SEVERAL,
        None => u64::MAX,
    };
    let (start, mut done) = (steps.done(), 0);
    let inserted = hashes.for_each(&mut |records| {
        // Insertion keeps the order of the records, because some kinds remember it. The filter must not depend on the
        // parts in which the records come.
        for records in records.chunk_by(|a, b| (a.times() > several) == (b.times() > several)) {
            R::each(records, several, &mut |hashes| filter.insert_batch(&Keys::Hashes(hashes), None).outcome)?;
            for record in records.iter().filter(|record| record.times() > several) {
                filter.insert_times_hash(record.hash(), record.times())?;
            }
        }
        done += records.len() as u64;
        steps.advance_part(start, done, distinct)
    });
    inserted.map_err(|error| match error.status() {
        Status::Full if capacity > 0 && distinct > capacity => {
            error!(Full, "{distinct} distinct keys are more than capacity = {capacity}: {error}")
        }
        _ => error,
    })?;
    steps.finish()?;
    filter.base_mut().set_count(added);
    Ok(filter)
}
