//! Makes maps of any kind.

use super::builder::BuilderOptions;
use super::create::create_as;
use super::handles::bytes_of;
use super::map_builder::MapBuilder;
use crate::error::Result;
use crate::handle::map::Map;
use crate::registry::DEFAULT_MAP_KIND;
use crate::spec::Spec;

bytes_of!(Map "a map",);

impl Map {
    /// An empty map in its own memory. The default kind is [`DEFAULT_MAP_KIND`].
    ///
    /// # Errors
    /// As [`create_as`]: also for a kind that is made from all of its entries, as the default kind is, which
    /// [`Map::from_entries`] and a [`MapBuilder`] take.
    pub fn new(spec: &Spec) -> Result<Map> {
        create_as(&Spec { kind: Some(spec.kind.unwrap_or(DEFAULT_MAP_KIND)), ..*spec })
    }

    /// A map of all of these keys with their values, of any kind. A spec without a capacity gets that of the distinct
    /// keys. It takes 24 bytes of memory for each key meanwhile; a [`MapBuilder`] can have a limit, use several threads
    /// and say how far it is.
    ///
    /// ```
    /// use petal::{Map, Spec};
    /// let counts = Map::from_entries(&Spec::default(), [("apple", 3), ("pear", 5)])?;
    /// assert_eq!(counts.get("pear")?, Some(5));
    /// # Ok::<(), petal::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MapBuilder::new`], [`MapBuilder::put`] and [`MapBuilder::finish`].
    pub fn from_entries(spec: &Spec, entries: impl IntoIterator<Item = (impl AsRef<[u8]>, u64)>) -> Result<Map> {
        let mut builder = MapBuilder::new(spec, BuilderOptions::default())?;
        builder.put_all(entries)?;
        builder.finish()
    }
}
