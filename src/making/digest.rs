//! Makes digests.

use super::create::create_as;
use super::handles::bytes_of;
use crate::digest::Digest;
use crate::error::Result;
use crate::handle::image::Image;
use crate::spec::{KindId, Spec};

bytes_of!(Digest "a digest",);

impl Digest {
    /// An empty digest in its own memory. The spec's capacity is a number of bytes of data, and its rate that of one
    /// entry. Without a rate and bits the parameter `bytes_per_byte` determines the size.
    ///
    /// # Errors
    /// As [`create_as`].
    pub fn new(spec: &Spec) -> Result<Digest> {
        let kind = spec.kind.unwrap_or(KindId::DIGEST);
        let mut digest: Digest = create_as(&Spec { kind: Some(kind), ..*spec })?;
        let base = digest.base_mut();
        // The size may come from the memory for each byte, and then the rate follows from it.
        if base.header().false_positive_rate > 0.0 {
            let rate = (base.row().false_positive_rate)(base.geometry(), base.header().capacity);
            base.promise(rate);
        }
        Ok(digest)
    }
}
