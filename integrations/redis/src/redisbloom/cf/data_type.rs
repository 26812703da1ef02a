//! How tables are stored: RedisBloom's bytes in RDB files and DUMP, its commands in the append-only file.

use super::super::{Chunked, written};
use super::tables::{Table, Tables};
use crate::server::mover::Mover;
use crate::server::persistence::{Commands, Digest, Reader, Unreadable, Writer};
use crate::server::value::{Asked, DataType, KnowsMemory};
use petal::interop::Cursor;
use petal::interop::redisbloom_cuckoo::Header;
use redis_module::raw::RedisModuleType;
use std::ffi::{CStr, c_int};
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;

static HANDLE: AtomicPtr<RedisModuleType> = AtomicPtr::new(null_mut());

impl DataType for Tables {
    type Memory = Asked;

    const NAME: &'static CStr = c"MBbloomCF";
    const VERSION: c_int = 4;

    fn handle() -> &'static AtomicPtr<RedisModuleType> {
        &HANDLE
    }

    /// Reads the number of tables, the buckets of the first table, keys, deleted keys, slots of a bucket, kicks,
    /// expansion; then the buckets and the slots of each table.
    fn read(from: &mut Reader) -> Result<Tables, Unreadable> {
        let [tables, buckets, keys, deleted] = [from.unsigned()?, from.unsigned()?, from.unsigned()?, from.unsigned()?];
        let [slots, kicks, expansion] = [from.unsigned()?, from.unsigned()?, from.unsigned()?];
        let header = Header { keys, buckets, deleted, tables, slots, kicks, expansion };
        let filter = Tables::with(&header, |buckets, width| {
            // A table is made after its slots were read: the memory allocated is no more than the bytes read.
            let unreadable = |Unreadable| petal::Status::Truncated;
            match from.unsigned().map_err(unreadable)? == buckets {
                true => from.bytes(|slots| Table::of(buckets, width, slots)).map_err(unreadable)?,
                false => Err(petal::Status::Corrupt.into()),
            }
        });
        filter.map_err(|_| Unreadable)
    }

    fn write(&self, to: &mut Writer) {
        let Header { keys, buckets, deleted, tables, slots, kicks, expansion } = self.header();
        for number in [tables, buckets, keys, deleted, slots, kicks, expansion] {
            to.unsigned(number);
        }
        for array in self.arrays() {
            to.unsigned(array.len() as u64 / slots);
            to.bytes(array);
        }
    }

    fn rewrite(&self, to: &mut Commands) {
        self.rewrite_chunks(to);
    }

    fn digest(&self, to: &mut Digest) {
        self.digest_chunks(to);
    }

    fn copy(&self) -> petal::Result<Tables> {
        let mut copy = Tables::of_header(&self.header(), |_| true)?;
        copy.arrays_mut().zip(self.arrays()).for_each(|(to, from)| to.copy_from_slice(from));
        Ok(copy)
    }

    fn move_memory(&mut self, mover: &Mover) {
        Tables::move_memory(self, mover);
    }
}

impl KnowsMemory for Tables {
    fn asked_for(&self) -> usize {
        Tables::asked_for(self)
    }
}

impl Chunked for Tables {
    const LOAD: &'static CStr = c"CF.LOADCHUNK";

    fn header_bytes(&self) -> petal::Result<Vec<u8>> {
        written(|sink| self.header().write(sink))
    }

    fn of_header_bytes(bytes: &[u8], has_room: impl FnOnce(u64) -> bool) -> petal::Result<Tables> {
        let mut cursor = Cursor::new(bytes);
        let header = Header::read(&mut cursor)?;
        cursor.finish("redisbloom_cuckoo")?;
        Tables::of_header(&header, has_room)
    }

    fn arrays(&self) -> impl Iterator<Item = &[u8]> {
        Tables::arrays(self)
    }

    fn arrays_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        Tables::arrays_mut(self)
    }

    fn contains(&self, key: &[u8]) -> bool {
        Tables::contains(self, key)
    }
}
