//! Makes aggregates.

use super::create::create_as;
use super::handles::bytes_of;
use crate::aggregate::Aggregate;
use crate::error::Result;
use crate::spec::{KindId, Spec};

bytes_of!(Aggregate "an aggregate",);

impl Aggregate {
    /// An empty aggregate in memory of its own. The spec's capacity is the number of participants; its kind may be
    /// `None`.
    ///
    /// # Errors
    /// As [`create_as`](crate::create_as).
    pub fn new(spec: &Spec) -> Result<Aggregate> {
        create_as(&Spec { kind: Some(spec.kind.unwrap_or(KindId::AGGREGATE)), ..*spec })
    }
}
