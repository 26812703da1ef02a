//! Filters and maps in RDB and append-only files: images, in pieces.

use super::secret::digits;
use super::stored::Stored;
use crate::redisbloom::bf::chain::Chain;
use crate::redisbloom::cf::tables::Tables;
use crate::server::defaults::CHUNK;
use crate::server::mover::Mover;
use crate::server::persistence::{Commands, Digest, Reader, Unreadable, Writer};
use crate::server::value::{DataType, Given};
use crate::server::{Refusal, memory};
use crate::valkey_bloom::object::Object;
use redis_module::raw::RedisModuleType;
use std::ffi::{CStr, c_int};
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;

/// The most bytes of a piece.
const PIECE: usize = 1 << 20;

/// The forms in a file: an image, a part of an image, or a secret key followed by the image that needs it.
const WHOLE: u64 = 1;
const PART: u64 = 2;
const KEYED: u64 = 3;

static HANDLE: AtomicPtr<RedisModuleType> = AtomicPtr::new(null_mut());

impl DataType for Stored {
    type Memory = Given;

    const NAME: &'static CStr = c"petal-img";
    const VERSION: c_int = 1;

    fn handle() -> &'static AtomicPtr<RedisModuleType> {
        &HANDLE
    }

    fn refusal_of(other: *mut RedisModuleType) -> Refusal {
        if other == Chain::registered() || other == Object::registered() {
            return Refusal::Said(
                "WRONGTYPE the key holds a filter of BF.*, whose commands are those: BF.ADD, BF.EXISTS, BF.INFO, \
                 BF.SCANDUMP and others",
            );
        }
        if other == Tables::registered() {
            return Refusal::Said(
                "WRONGTYPE the key holds a filter of CF.*, whose commands are those: CF.ADD, CF.EXISTS, CF.INFO, \
                 CF.SCANDUMP and others",
            );
        }
        Refusal::WrongType
    }

    /// Reads the form (whole or a part), the secret key if there is one, the number of bytes, and the bytes in pieces.
    fn read(from: &mut Reader) -> Result<Stored, Unreadable> {
        let form = from.unsigned()?;
        let key = match form {
            KEYED => Some(from.bytes(|key| key.try_into().map_err(|_| Unreadable))??),
            _ => None,
        };
        let length = from.unsigned()?;
        let mut image = Vec::new();
        // Reserves all room in one piece, because growing would copy. Room that no piece fills takes no memory.
        if !memory::is_conceivable(length) || image.try_reserve_exact(length as usize).is_err() {
            return Err(Unreadable);
        }
        while (image.len() as u64) < length {
            let left = length - image.len() as u64;
            let taken = from.bytes(|piece| {
                let fits = !piece.is_empty() && piece.len() as u64 <= left;
                if fits {
                    image.extend_from_slice(piece);
                }
                fits
            })?;
            if !taken {
                return Err(Unreadable);
            }
        }
        match form {
            WHOLE | KEYED => Stored::of_image(&image, key).map_err(|error| {
                from.warn(error.message());
                Unreadable
            }),
            PART => Ok(Stored::Part(image)),
            _ => Err(Unreadable),
        }
    }

    fn write(&self, to: &mut Writer) {
        match (self, self.secret()) {
            (Stored::Part(_), _) => to.unsigned(PART),
            (_, None) => to.unsigned(WHOLE),
            (_, Some(key)) => {
                to.unsigned(KEYED);
                to.bytes(&key);
            }
        }
        to.unsigned(self.length() as u64);
        let mut piece = Vec::with_capacity(PIECE);
        let written = Stored::write(self, &mut |mut bytes| {
            while !bytes.is_empty() {
                let (now, later) = bytes.split_at(bytes.len().min(PIECE - piece.len()));
                piece.extend_from_slice(now);
                bytes = later;
                if piece.len() == PIECE {
                    to.bytes(&piece);
                    piece.clear();
                }
            }
            Ok(())
        });
        // An empty piece marks a failure: the reader refuses it.
        if written.is_err() || !piece.is_empty() {
            to.bytes(if written.is_ok() { &piece } else { &[] });
        }
    }

    fn rewrite(&self, to: &mut Commands) {
        let mut at = 0;
        while let Ok(chunk) = self.chunk(at, CHUNK)
            && !chunk.is_empty()
        {
            at += chunk.len();
            let end = 1 + at as u64;
            match self.secret().filter(|_| at == self.length()) {
                Some(key) => {
                    to.chunk_with(c"PETAL.IMPORT", end, &chunk, [c"SECRET".to_bytes(), digits(&key).as_bytes()])
                }
                None => to.chunk(c"PETAL.IMPORT", end, &chunk),
            }
        }
    }

    fn digest(&self, to: &mut Digest) {
        let _ = Stored::write(self, &mut |bytes| {
            to.bytes(bytes);
            Ok(())
        });
        to.end();
    }

    /// Does nothing: the core's allocations cannot be moved.
    fn move_memory(&mut self, _mover: &Mover) {}

    fn copy(&self) -> petal::Result<Stored> {
        Stored::copy(self)
    }
}
