//! The bytes of a builder's keys, which another builder takes in. `docs/format.md` specifies them to the bit.

use super::collect::{Record, Sorted};
use super::progress::Steps;
use crate::contract::{Records, Row, Weighted};
use crate::error::{Result, error};
use crate::hash::Hasher;
use crate::spec::{KindId, Spec};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// The first byte is not text, and conversions of line endings destroy the last one.
const MAGIC: [u8; 8] = *b"\x89PTLKEY\n";
const VERSION: u32 = 1;
/// The bytes before the prefixes.
const HEADER: usize = 88;
/// The bytes of the checksum at the end.
const CHECKSUM: usize = 8;

/// What builders agree in if one takes the keys of the other.
pub struct Identity {
    kind: KindId,
    hash: u32,
    /// The bytes of a record.
    record: u32,
    /// The seed, the identifier of the secret key, or the tag of external hashes.
    identifier: u64,
    /// A hash of everything else that the spec says.
    fingerprint: u64,
}

impl Identity {
    /// The identity of builders with this spec, whose records are of the type `R`.
    ///
    /// # Errors
    /// As [`Spec::real_parameter`].
    pub fn of<R: Record>(row: &Row, spec: &Spec, hasher: &Hasher) -> Result<Identity> {
        let mut rest = Xxh3Default::new();
        rest.update(&u32::from(row.form.layout_version).to_le_bytes());
        rest.update(&spec.hashes.to_le_bytes());
        for number in [spec.capacity, spec.false_positive_rate.to_bits(), spec.bits] {
            rest.update(&number.to_le_bytes());
        }
        for parameter in row.parameters {
            rest.update(&parameter.id().to_le_bytes());
            rest.update(&spec.real_parameter(parameter)?.to_bits().to_le_bytes());
        }
        let (hash, record) = (hasher.function() as u32, R::BYTES as u32);
        Ok(Identity { kind: row.kind, hash, record, identifier: hasher.identifier(), fingerprint: rest.digest() })
    }

    /// Refuses keys of a builder with another identity.
    fn check(&self, other: &Identity) -> Result<()> {
        if other.kind != self.kind || other.record != self.record {
            return Err(error!(Incompatible, "the keys are of a builder of {}, not of {}", other.kind, self.kind));
        }
        if other.hash != self.hash {
            return Err(error!(
                Incompatible,
                "the keys went through hash function {}, and this builder has {}", other.hash, self.hash
            ));
        }
        if other.identifier != self.identifier {
            return Err(error!(
                Incompatible,
                "the keys were hashed under another seed, tag or secret: identifier {:#018x}, not {:#018x}",
                other.identifier,
                self.identifier
            ));
        }
        if other.fingerprint != self.fingerprint {
            return Err(error!(
                Incompatible,
                "the keys are of a builder whose spec has another capacity, rate, geometry or parameter"
            ));
        }
        Ok(())
    }
}

/// How much a builder has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// The keys that were added or excluded, as often as that happened.
    pub added: u64,
    /// The excluded ones among them.
    pub excluded: u64,
    /// How often frequent non-members were given.
    pub frequent: u64,
}

/// Gives the bytes of a builder's keys to `write`, piece by piece.
///
/// # Errors
/// The errors of `write` and [`Records::for_each`]; [`Status::Cancelled`](crate::Status::Cancelled).
pub fn write<R: Record>(
    identity: &Identity,
    counts: Counts,
    prefixes: &[u64],
    members: &Sorted<R>,
    frequent: Option<&Sorted<Weighted>>,
    steps: &mut Steps,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut checksum = Xxh3Default::new();
    let mut put = |bytes: &[u8]| {
        checksum.update(bytes);
        write(bytes)
    };
    let pair = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    let header: [u64; HEADER / 8] = [
        u64::from_le_bytes(MAGIC),
        pair(VERSION, identity.kind.0),
        pair(identity.hash, identity.record),
        identity.identifier,
        identity.fingerprint,
        counts.added,
        counts.excluded,
        counts.frequent,
        prefixes.len() as u64,
        members.count(),
        frequent.map_or(0, Records::count),
    ];
    header.iter().chain(prefixes).try_for_each(|word| put(&word.to_le_bytes()))?;
    put_all(members, steps, &mut put)?;
    frequent.map_or(Ok(()), |frequent| put_all(frequent, steps, &mut put))?;
    steps.finish()?;
    let checksum = checksum.digest();
    write(&checksum.to_le_bytes())
}

fn put_all<R: Record>(records: &Sorted<R>, steps: &mut Steps, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut bytes = Vec::new();
    records.for_each(&mut |piece| {
        let length = piece.len() * R::BYTES;
        bytes.try_reserve(length).map_err(|_| error!(OutOfMemory, "{length} bytes for keys could not be had"))?;
        bytes.resize(length, 0);
        piece.iter().zip(bytes.chunks_exact_mut(R::BYTES)).for_each(|(record, bytes)| record.put(bytes));
        put(&bytes)?;
        bytes.clear();
        steps.advance(piece.len() as u64)
    })
}

/// The bytes of a builder's keys, of a length and with a checksum that are right. The records may still be wrong.
pub struct State<'a> {
    /// How much the builder had.
    pub counts: Counts,
    /// The hashes of the partitions' prefixes, by the partitions' numbers.
    pub prefixes: &'a [u8],
    /// The records of members and excluded keys.
    pub members: &'a [u8],
    /// The records of frequent non-members.
    pub frequent: &'a [u8],
}

impl<'a> State<'a> {
    /// The keys of a builder that agrees with `identity`.
    ///
    /// # Errors
    /// [`Status::Foreign`](crate::Status::Foreign), [`Status::NewerVersion`](crate::Status::NewerVersion),
    /// [`Status::Truncated`](crate::Status::Truncated), [`Status::Corrupt`](crate::Status::Corrupt),
    /// [`Status::Incompatible`](crate::Status::Incompatible).
    pub fn read(bytes: &'a [u8], identity: &Identity) -> Result<State<'a>> {
        if !bytes.starts_with(&MAGIC) {
            return Err(error!(Foreign, "the bytes do not start like the keys of a builder"));
        }
        let Some(start) = bytes.get(..HEADER) else {
            return Err(error!(Truncated, "{} bytes are less than the {HEADER} that come before keys", bytes.len()));
        };
        let mut header = [0; HEADER / 8];
        for (word, bytes) in header.iter_mut().zip(start.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let [
            _,
            version_kind,
            hash_record,
            identifier,
            fingerprint,
            added,
            excluded,
            given,
            prefixes,
            members,
            frequent,
        ] = header;
        if version_kind as u32 != VERSION {
            let version = version_kind as u32;
            return Err(error!(NewerVersion, "version {version} of a builder's keys is not {VERSION}"));
        }
        let of = Identity {
            kind: KindId((version_kind >> 32) as u32),
            hash: hash_record as u32,
            record: (hash_record >> 32) as u32,
            identifier,
            fingerprint,
        };
        let lengths = [
            8 * u128::from(prefixes),
            u128::from(of.record) * u128::from(members),
            Weighted::BYTES as u128 * u128::from(frequent),
        ];
        let needed = HEADER as u128 + lengths.iter().sum::<u128>() + CHECKSUM as u128;
        match bytes.len() as u128 {
            there if there < needed => {
                return Err(error!(Truncated, "the keys have {needed} bytes, only {there} of them are there"));
            }
            there if there > needed => {
                return Err(error!(Corrupt, "{} bytes follow the {needed} bytes of the keys", there - needed));
            }
            _ => {}
        }
        let (body, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        if xxh3_64(body).to_le_bytes() != *checksum {
            return Err(error!(Corrupt, "the keys do not match their checksum"));
        }
        identity.check(&of)?;
        for (name, records, times) in
            [("added", members, added), ("excluded", excluded, added), ("frequent", frequent, given)]
        {
            if times < records {
                return Err(error!(Corrupt, "{records} keys came {times} times: {name}"));
            }
        }
        // All of it is there, so the lengths are those of parts of a slice.
        let (prefixes, rest) = body[HEADER..].split_at(lengths[0] as usize);
        let (members, frequent) = rest.split_at(lengths[1] as usize);
        Ok(State { counts: Counts { added, excluded, frequent: given }, prefixes, members, frequent })
    }
}
