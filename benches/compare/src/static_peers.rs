//! Other libraries' filters that are built from all of their keys.

use crate::subject::one_by_one;
use xorf::{BinaryFuse8, BinaryFuse16, Filter as _};

/// A filter that was built.
pub trait Static {
    /// The bits of memory that the filter takes.
    fn bits(&self) -> u64;

    /// Looks up keys one by one, and returns how many were found.
    fn contains(&self, keys: &[u64], answers: &mut [u8]) -> u64;
}

/// A library, and its function that builds a filter of fingerprints of 8 or 16 bits on one thread.
pub struct Library {
    /// The name of the library in reports.
    pub name: &'static str,
    /// Builds a filter of distinct keys.
    pub build: fn(keys: &[u64], bits: u32) -> Result<Box<dyn Static>, String>,
}

/// All libraries. sux is one of them with the feature `sux`, because it needs a hundred crates.
pub const LIBRARIES: &[Library] = &[
    Library { name: "xorf", build: xorf },
    #[cfg(feature = "sux")]
    Library { name: "sux", build: sux::build },
];

fn xorf(keys: &[u64], bits: u32) -> Result<Box<dyn Static>, String> {
    Ok(match bits {
        8 => Box::new(BinaryFuse8::try_from(keys)?),
        _ => Box::new(BinaryFuse16::try_from(keys)?),
    })
}

impl Static for BinaryFuse8 {
    fn bits(&self) -> u64 {
        self.len() as u64 * 8
    }

    fn contains(&self, keys: &[u64], answers: &mut [u8]) -> u64 {
        one_by_one(keys.iter(), answers, |key| xorf::Filter::contains(self, key))
    }
}

impl Static for BinaryFuse16 {
    fn bits(&self) -> u64 {
        self.len() as u64 * 16
    }

    fn contains(&self, keys: &[u64], answers: &mut [u8]) -> u64 {
        one_by_one(keys.iter(), answers, |key| xorf::Filter::contains(self, key))
    }
}

#[cfg(feature = "sux")]
mod sux {
    use super::{Static, one_by_one};
    use dsi_progress_logger::no_logging;
    use mem_dbg::{MemSize, SizeFlags};
    use sux::dict::VFilter;
    use sux::func::VBuilder;
    use sux::utils::FromSlice;

    pub fn build(keys: &[u64], bits: u32) -> Result<Box<dyn Static>, String> {
        Ok(match bits {
            8 => {
                let builder = VBuilder::default().max_num_threads(1).expected_num_keys(keys.len());
                let built = Filter8::try_new_with_builder(FromSlice::new(keys), builder, no_logging![]);
                Box::new(built.map_err(|error| error.to_string())?)
            }
            _ => {
                let builder = VBuilder::default().max_num_threads(1).expected_num_keys(keys.len());
                let built = Filter16::try_new_with_builder(FromSlice::new(keys), builder, no_logging![]);
                Box::new(built.map_err(|error| error.to_string())?)
            }
        })
    }

    type Filter8 = VFilter<u64, Box<[u8]>>;
    type Filter16 = VFilter<u64, Box<[u16]>>;

    impl Static for Filter8 {
        fn bits(&self) -> u64 {
            self.mem_size(SizeFlags::default()) as u64 * 8
        }

        fn contains(&self, keys: &[u64], answers: &mut [u8]) -> u64 {
            one_by_one(keys.iter(), answers, |key| VFilter::contains(self, key))
        }
    }

    impl Static for Filter16 {
        fn bits(&self) -> u64 {
            self.mem_size(SizeFlags::default()) as u64 * 8
        }

        fn contains(&self, keys: &[u64], answers: &mut [u8]) -> u64 {
            one_by_one(keys.iter(), answers, |key| VFilter::contains(self, key))
        }
    }
}
