//! Makes sketches of any kind.

use super::create::create_as;
use super::handles::bytes_of;
use crate::error::Result;
use crate::registry::DEFAULT_SKETCH_KIND;
use crate::sketch::Sketch;
use crate::spec::Spec;

bytes_of!(Sketch "a sketch",);

impl Sketch {
    /// An empty sketch in its own memory. The default kind is [`DEFAULT_SKETCH_KIND`](DEFAULT_SKETCH_KIND). The spec's
    /// capacity is the number of differences that the sketch has to list, and its rate is the probability that the
    /// sketch cannot list them.
    ///
    /// # Errors
    /// As [`create_as`].
    pub fn new(spec: &Spec) -> Result<Sketch> {
        create_as(&Spec { kind: Some(spec.kind.unwrap_or(DEFAULT_SKETCH_KIND)), ..*spec })
    }
}
