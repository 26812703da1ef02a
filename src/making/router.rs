//! Makes routers.

use super::create::create_as;
use super::handles::bytes_of;
use crate::error::Result;
use crate::router::Router;
use crate::spec::{KindId, Spec};

bytes_of!(Router "a router",);

impl Router {
    /// An empty router of the node with this number, by which the nodes of a network are told apart. The kind of the
    /// spec may be `None`. The spec's capacity is the number of keys of one node, and its rate the probability that the
    /// last level of an edge has a key that is not there.
    ///
    /// # Errors
    /// As [`create_as`].
    pub fn new(spec: &Spec, node: u64) -> Result<Router> {
        let kind = spec.kind.unwrap_or(KindId::ROUTER);
        let mut router: Router = create_as(&Spec { kind: Some(kind), ..*spec })?;
        router.set_node(node)?;
        Ok(router)
    }
}
