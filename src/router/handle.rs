//! A router: the node's own keys, its edges, what it tells its neighbours, and where it sends a query.

use crate::batch::keys::Keys;
use crate::batch::ring::{GROUP, Taken};
use crate::contract::{Base, Capabilities, Handle, Payload, Structure};
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Result, error};
use crate::handle::image::Image;
use crate::router::layout::NODE;
use crate::router::state::{RouterState, Slot};

/// One node of a network that finds keys by attenuated Bloom filters. The node knows over which neighbour a key may be
/// reached, and in how many hops.
///
/// The node has its own keys, and an edge for each neighbour. [`Router::advertise`] makes a message for a neighbour,
/// [`Router::receive`] takes a neighbour's message, and [`Router::route`] says where a query goes. A router has no
/// network: the caller carries messages and queries. Many threads may use shared references at the same time. The calls
/// about the bytes (saving, verifying) are in [`Image`].
pub struct Router {
    pub(super) state: RouterState,
    /// The last message that was made.
    pub(super) message: Vec<u8>,
}

impl core::fmt::Debug for Router {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Router").field("header", self.base().header()).finish_non_exhaustive()
    }
}

impl Image for Router {
    fn payload(&self) -> &dyn Payload {
        &self.state
    }

    fn payload_mut(&mut self) -> &mut dyn Payload {
        &mut self.state
    }

    fn over(base: Base) -> Result<Router> {
        match base.row().structure {
            Structure::Own { handle: Handle::Router, .. } => {
                Ok(Router { state: RouterState::over(base)?, message: Vec::new() })
            }
            _ => Err(base.other_handle(Handle::Router)),
        }
    }
}

impl Router {
    /// Gives the node its number, by which the nodes of a network are told apart. A new router has the number 0.
    ///
    /// # Errors
    /// [`Status::Contradiction`] if the router has edges, whose neighbours may know the node by its number;
    /// [`Status::UnsupportedByHandle`] if the image is open for reading.
    pub fn set_node(&mut self, node: u64) -> Result<()> {
        self.check_writable("set the number of its node")?;
        let edges = self.edge_count();
        if edges > 0 {
            return Err(error!(Contradiction, "node = {node} for a router with {edges} edges: remove these first"));
        }
        self.state.base.writable()?[NODE] = node;
        Ok(())
    }

    /// The number of the node. Constant time.
    pub fn node(&self) -> u64 {
        self.state.node()
    }

    /// Inserts a byte key, which this node has from now on. Constant time.
    ///
    /// # Errors
    /// [`Status::ExternalHash`] or [`Status::SecretMissing`] if the key cannot be hashed; the errors of
    /// [`Router::insert_hash`].
    #[inline]
    pub fn insert(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        let hash = self.hash_of(key.as_ref())?;
        self.insert_hash(hash)
    }

    /// Inserts the hash of a key; see [`Router::insert`].
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`] if the image is open for reading; [`Status::Corrupt`] if an image in place does
    /// not match its checksums.
    pub fn insert_hash(&mut self, hash: u64) -> Result<()> {
        self.base().check_capability("insert", Capabilities::INSERT)?;
        let layout = self.state.layout;
        let cells = &mut self.state.base.writable()?[layout.cells()];
        for position in layout.positions(hash) {
            let (word, shift) = layout.cell(position);
            // A counter at its greatest value stays there.
            if cells[word] >> shift & layout.most() < layout.most() {
                cells[word] += 1 << shift;
            }
        }
        self.base_mut().add_count(1);
        Ok(())
    }

    /// Removes a byte key that was inserted before. Returns false, with nothing changed, if the node certainly did not
    /// have the key. A key that was never inserted, but that the filter takes for present, must not be removed, because
    /// other keys could be lost. Constant time.
    ///
    /// # Errors
    /// [`Status::Unsupported`] with `counter_bits` = 1: clear the router and insert the keys that are left. Otherwise
    /// as [`Router::insert`].
    #[inline]
    pub fn remove(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        let hash = self.hash_of(key.as_ref())?;
        self.remove_hash(hash)
    }

    /// Removes the hash of a key; see [`Router::remove`].
    ///
    /// # Errors
    /// As [`Router::remove`].
    pub fn remove_hash(&mut self, hash: u64) -> Result<bool> {
        self.base().check_capability("remove", Capabilities::REMOVE)?;
        if !self.state.has_own(hash) {
            return Ok(false);
        }
        let layout = self.state.layout;
        let cells = &mut self.state.base.writable()?[layout.cells()];
        for position in layout.positions(hash) {
            let (word, shift) = layout.cell(position);
            let count = cells[word] >> shift & layout.most();
            // Two positions of a key may be the same cell, and in forged bytes that cell may count only 1.
            if count > 0 && count < layout.most() {
                cells[word] -= 1 << shift;
            }
        }
        self.base_mut().subtract_count(1);
        Ok(true)
    }

    /// Inserts many keys in order. All keys are inserted, unless there is an error: one of [`Router::insert`], or
    /// [`Status::Offsets`].
    pub fn insert_batch(&mut self, keys: &Keys) -> Taken {
        self.each(keys, |router, hash| router.insert_hash(hash))
    }

    /// Removes many keys in order, as [`Router::insert_batch`] inserts them. Keys that the node certainly did not have
    /// change nothing.
    pub fn remove_batch(&mut self, keys: &Keys) -> Taken {
        self.each(keys, |router, hash| router.remove_hash(hash).map(drop))
    }

    fn each(&mut self, keys: &Keys, mut change: impl FnMut(&mut Router, u64) -> Result<()>) -> Taken {
        let (hasher, instructions) = (self.base().hasher().clone(), self.base().instructions());
        if let Err(error) = keys.check(&hasher) {
            return Taken::none(error);
        }
        let (mut done, mut hashes) = (0, [0; GROUP]);
        while done < keys.len() {
            let hashes = &mut hashes[..(keys.len() - done).min(GROUP)];
            keys.hash_range(done, &hasher, instructions, hashes);
            for (i, hash) in hashes.iter().enumerate() {
                if let Err(error) = change(self, *hash) {
                    return Taken { keys: done + i, outcome: Err(error) };
                }
            }
            done += hashes.len();
        }
        Taken::all(done)
    }

    /// Whether this node itself may have a byte key. Constant time.
    ///
    /// # Errors
    /// [`Status::ExternalHash`] or [`Status::SecretMissing`] if the key cannot be hashed.
    #[inline]
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        Ok(self.contains_hash(self.hash_of(key.as_ref())?))
    }

    /// Whether this node itself may have the key with this hash; see [`Router::contains`].
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.state.has_own(hash)
    }

    /// Forgets the node's own keys. Edges, and what came in over them, stay.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`] if the image is open for reading.
    pub fn clear(&mut self) -> Result<()> {
        self.base().check_capability("clear", Capabilities::CLEAR)?;
        let cells = self.state.layout.cells();
        self.state.base.writable()?[cells].fill(0);
        self.base_mut().set_count(0);
        Ok(())
    }

    /// Insertions less removals; 0 if there were more removals.
    pub fn insertions(&self) -> u64 {
        self.base().count_now()
    }

    /// The hash of a byte key.
    pub(super) fn hash_of(&self, key: &[u8]) -> Result<u64> {
        self.base().hasher().hash_key(key)
    }

    /// Refuses a handle that may not change its router.
    pub(super) fn check_writable(&self, operation: &str) -> Result<()> {
        self.base().check_capability(operation, Capabilities::INSERT)
    }

    /// The slot of an edge.
    pub(super) fn slot_of(&self, neighbour: u64) -> Result<(usize, Slot)> {
        let found = self.state.slots().find(|(_, slot)| slot.neighbour == neighbour);
        found.ok_or_else(|| self.state.no_edge(neighbour))
    }
}
