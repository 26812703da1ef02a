//! How objects are stored: valkey-bloom's bytes in RDB files and DUMP, and `BF.LOAD` in the append-only file.

use super::object::{FIXED_SEED, Head, Object, seed_of};
use crate::links::Links;
use crate::server::defaults;
use crate::server::mover::Mover;
use crate::server::persistence::{Commands, Digest, Reader, Unreadable, Writer};
use crate::server::value::{Asked, DataType, KnowsMemory};
use petal::interop::valkey_chain::{Header, blob, check_keys};
use redis_module::raw::RedisModuleType;
use std::ffi::{CStr, c_int};
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;

static HANDLE: AtomicPtr<RedisModuleType> = AtomicPtr::new(null_mut());

impl DataType for Object {
    type Memory = Asked;

    const NAME: &'static CStr = c"bloomfltr";
    const VERSION: c_int = 1;

    fn handle() -> &'static AtomicPtr<RedisModuleType> {
        &HANDLE
    }

    /// Reads the number of filters, expansion, rate, tightening, and whether the seed is random. Then, for each filter:
    /// its bytes, its capacity, and for the last one how many items it holds; the others are full.
    fn read(from: &mut Reader) -> Result<Object, Unreadable> {
        let (count, expansion) = (from.unsigned()?, from.unsigned()?);
        let (rate, tightening, random) = (from.real()?, from.real()?, from.unsigned()?);
        let expansion = u32::try_from(expansion).map_err(|_| Unreadable)?;
        let header = Header { expansion, rate, tightening, is_random: random == 1 };
        header.check().map_err(|_| Unreadable)?;
        let mut object: Option<Object> = None;
        for i in 0..count {
            // The number of items follows the bytes, so the filter gets it afterwards.
            let made = from.bytes(|bytes| {
                let blob = blob(bytes).map_err(|_| Unreadable)?;
                let seed = seed_of(&blob.key);
                let object = object.get_or_insert_with(|| Links::new(Head::new(header, seed)));
                let is_of_object = object.head.seed == seed && (header.is_random || seed == FIXED_SEED);
                // Any capacity will do until it is read.
                let link = header.link(i as usize, &blob, 1);
                object.push_with(link, blob.bits).ok().filter(|()| is_of_object).ok_or(Unreadable)
            })?;
            made?;
            let entries = from.unsigned()?;
            let taken = if i == count - 1 { from.unsigned()? } else { entries };
            check_keys(entries, taken).map_err(|_| Unreadable)?;
            let object = object.as_mut().ok_or(Unreadable)?;
            object.set_newest_entries(entries);
            object.set_newest_taken(taken);
        }
        let mut object = object.ok_or(Unreadable)?;
        object.count();
        Ok(object)
    }

    fn write(&self, to: &mut Writer) {
        let Header { expansion, rate, tightening, is_random } = self.head.header;
        to.unsigned(self.all().len() as u64);
        to.unsigned(expansion.into());
        to.real(rate);
        to.real(tightening);
        to.unsigned(is_random.into());
        for (blob, placed) in self.blobs().zip(self.all()) {
            to.bytes(&blob);
            to.unsigned(placed.link.entries);
        }
        to.unsigned(self.all().last().map_or(0, |placed| placed.taken));
    }

    fn rewrite(&self, to: &mut Commands) {
        if let Ok(bytes) = self.to_bytes() {
            to.bytes(c"BF.LOAD", &bytes);
        }
    }

    /// The digest is valkey-bloom's, so that both modules say the same of equal values.
    fn digest(&self, to: &mut Digest) {
        let Header { expansion, rate, tightening, is_random } = self.head.header;
        to.number(expansion.into());
        to.bytes(&rate.to_le_bytes());
        to.bytes(&tightening.to_le_bytes());
        to.number(is_random.into());
        for (blob, placed) in self.blobs().zip(self.all()) {
            to.bytes(&blob);
            to.number(placed.taken);
            to.number(placed.link.entries);
        }
        to.end();
    }

    fn copy(&self) -> petal::Result<Object> {
        let mut copy = Links::copy(self)?;
        copy.count();
        Ok(copy)
    }

    fn move_memory(&mut self, mover: &Mover) {
        if defaults::moves_objects() {
            Links::move_memory(self, mover);
        }
    }
}

impl KnowsMemory for Object {
    fn asked_for(&self) -> usize {
        Links::asked_for(self)
    }
}
