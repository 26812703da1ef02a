//! How chains are stored: RedisBloom's bytes in RDB files and DUMP, its commands in the append-only file.

use super::super::{Chunked, written};
use super::chain::{Chain, Head, array_bytes};
use crate::links::Links;
use crate::server::mover::Mover;
use crate::server::persistence::{Commands, Digest, Reader, Unreadable, Writer};
use crate::server::value::{Asked, DataType, KnowsMemory};
use petal::interop::Cursor;
use petal::interop::redisbloom::Header;
use petal::kinds::foreign_scalable::links::Link;
use redis_module::raw::RedisModuleType;
use std::ffi::{CStr, c_int};
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;

/// The most links of a chain that is read.
const MOST_LINKS: u64 = 1 << 16;

static HANDLE: AtomicPtr<RedisModuleType> = AtomicPtr::new(null_mut());

impl DataType for Chain {
    type Memory = Asked;

    const NAME: &'static CStr = c"MBbloom--";
    const VERSION: c_int = 4;

    fn handle() -> &'static AtomicPtr<RedisModuleType> {
        &HANDLE
    }

    /// Reads the number of keys, the number of links, options and expansion. Then, for each link: entries, rate,
    /// hashes, bits of an entry, bits, the exponent of the modulus, the array, and the number of keys.
    fn read(from: &mut Reader) -> Result<Chain, Unreadable> {
        let [keys, count, options, expansion] =
            [from.unsigned()?, from.unsigned()?, from.unsigned()?, from.unsigned()?];
        let (Ok(options), Ok(expansion)) = (u32::try_from(options), u32::try_from(expansion)) else {
            return Err(Unreadable);
        };
        if count > MOST_LINKS {
            return Err(Unreadable);
        }
        let mut chain = Links::new(Head { options, expansion });
        for _ in 0..count {
            let (entries, rate, hashes, bits_per_entry) =
                (from.unsigned()?, from.real()?, from.unsigned()?, from.real()?);
            let (bits, log_modulus) = (from.unsigned()?, from.unsigned()?);
            let (Ok(hashes), Ok(log_modulus)) = (u32::try_from(hashes), u8::try_from(log_modulus)) else {
                return Err(Unreadable);
            };
            let link = Link { bits, hashes, log_modulus, entries, rate, bits_per_entry };
            // A link is made after its array was read: the memory allocated is no more than the bytes read.
            from.bytes(|array| chain.push_with(link, array))?.map_err(|_| Unreadable)?;
            chain.set_newest_taken(from.unsigned()?);
        }
        chain.header().check(keys).map_err(|_| Unreadable)?;
        Ok(chain)
    }

    fn write(&self, to: &mut Writer) {
        let header = self.header();
        for number in [self.keys(), header.links.len() as u64, header.options.into(), header.expansion.into()] {
            to.unsigned(number);
        }
        for ((link, taken), array) in header.links.iter().zip(self.arrays()) {
            to.unsigned(link.entries);
            to.real(link.rate);
            to.unsigned(link.hashes.into());
            to.real(link.bits_per_entry);
            to.unsigned(link.bits);
            to.unsigned(link.log_modulus.into());
            to.bytes(array);
            to.unsigned(*taken);
        }
    }

    fn rewrite(&self, to: &mut Commands) {
        self.rewrite_chunks(to);
    }

    fn digest(&self, to: &mut Digest) {
        self.digest_chunks(to);
    }

    fn copy(&self) -> petal::Result<Chain> {
        Chain::copy(self)
    }

    fn move_memory(&mut self, mover: &Mover) {
        Chain::move_memory(self, mover);
    }
}

impl KnowsMemory for Chain {
    fn asked_for(&self) -> usize {
        Chain::asked_for(self)
    }
}

impl Chunked for Chain {
    const LOAD: &'static CStr = c"BF.LOADCHUNK";

    fn header_bytes(&self) -> petal::Result<Vec<u8>> {
        written(|sink| self.header().write(sink))
    }

    fn of_header_bytes(bytes: &[u8], has_room: impl FnOnce(u64) -> bool) -> petal::Result<Chain> {
        let mut cursor = Cursor::new(bytes);
        let header = Header::read(&mut cursor)?;
        cursor.finish("redisbloom")?;
        match has_room(array_bytes(&header)) {
            true => Chain::of_header(&header),
            false => Err(petal::Status::OutOfMemory.into()),
        }
    }

    fn arrays(&self) -> impl Iterator<Item = &[u8]> {
        Chain::arrays(self)
    }

    fn arrays_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        Chain::arrays_mut(self)
    }

    fn contains(&self, key: &[u8]) -> bool {
        Chain::contains(self, key)
    }

    fn contains_many(&self, keys: &[&[u8]]) -> Vec<bool> {
        Chain::contains_many(self, keys)
    }
}
