//! How tables are kept: RedisBloom's bytes in RDB files and DUMP, its commands in the append-only file.

use super::super::{Chunked, written};
use super::tables::Tables;
use crate::server::persistence::{Commands, Digest, Reader, Unreadable, Writer};
use crate::server::value::DataType;
use petal::interop::Cursor;
use petal::interop::redisbloom_cuckoo::Header;
use redis_module::raw::RedisModuleType;
use std::ffi::{CStr, c_int};
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;

static HANDLE: AtomicPtr<RedisModuleType> = AtomicPtr::new(null_mut());

impl DataType for Tables {
    const NAME: &'static CStr = c"MBbloomCF";
    const VERSION: c_int = 4;

    fn handle() -> &'static AtomicPtr<RedisModuleType> {
        &HANDLE
    }

    /// Tables, buckets of the first, keys, keys deleted, slots of a bucket, kicks, expansion; and of each table its
    /// buckets and its slots.
    fn read(from: &mut Reader) -> Result<Tables, Unreadable> {
        let [tables, buckets, keys, deleted] = [from.unsigned()?, from.unsigned()?, from.unsigned()?, from.unsigned()?];
        let [slots, kicks, expansion] = [from.unsigned()?, from.unsigned()?, from.unsigned()?];
        let header = Header { keys, buckets, deleted, tables, slots, kicks, expansion };
        let mut filter = Tables::without(&header).map_err(|_| Unreadable)?;
        let mut here = buckets;
        for _ in 0..tables {
            if from.unsigned()? != here {
                return Err(Unreadable);
            }
            // A table is made once its slots are there: what is allocated is as long as what was read.
            let made = from.bytes(|bytes| {
                let fits = here.checked_mul(slots) == Some(bytes.len() as u64);
                (fits && filter.push(buckets, slots).is_ok())
                    .then(|| filter.arrays_mut().next_back().map(|array| array.copy_from_slice(bytes)))
                    .flatten()
            })?;
            made.ok_or(Unreadable)?;
            here = here.saturating_mul(expansion);
        }
        Ok(filter)
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
