//! Writes clubcards of Mozilla's crates and prints their lines for vectors.txt: `cargo run FOLDER`. What these crates
//! say of many certificates goes to `NAME.answers`: an issuer with a digit for each of its serials, or a key with a
//! digit. The linear systems have random parts, so each run writes other bytes.
//!
//! Issuers and logs have letters where real ones have hashes, so that keys are lines of text.

use clubcard::builder::{ApproximateRibbon, ClubcardBuilder, ExactRibbon};
use clubcard_crlite::builder::CRLiteBuilderItem;
use clubcard_crlite::{
    CRLiteClubcard, CRLiteCoverage, CRLiteKey, CRLiteQuery, CRLiteStatus, Encoding, IssuerSpkiHash, LogId, Timestamp,
};
use std::fmt::Write;
use std::path::PathBuf;

type Clubcard = clubcard::Clubcard<4, CRLiteCoverage, ()>;

/// How an issuer's certificates are: how many there are, and how many of them are revoked.
struct Issuer {
    name: &'static str,
    certificates: usize,
    revoked: usize,
}

const fn issuer(name: &'static str, certificates: usize, revoked: usize) -> Issuer {
    Issuer { name, certificates, revoked }
}

impl Issuer {
    fn id(&self) -> IssuerSpkiHash {
        IssuerSpkiHash(letters(self.name))
    }

    /// Whether the complement is encoded, as it is where more than half are revoked.
    fn is_inverted(&self) -> bool {
        2 * self.revoked > self.certificates && self.revoked < self.certificates
    }

    fn item(&self, i: usize) -> CRLiteBuilderItem {
        let serial = serial(i).into_bytes();
        match i < self.revoked {
            true => CRLiteBuilderItem::revoked(self.id(), serial),
            false => CRLiteBuilderItem::not_revoked(self.id(), serial),
        }
    }
}

/// 32 letters that begin with a name.
fn letters(name: &str) -> [u8; 32] {
    format!("{name:-<32}").into_bytes().try_into().expect("a short name")
}

/// Serials of up to 20 bytes, as certificates have them.
fn serial(i: usize) -> String {
    format!("{:x}", i as u64 * 0x9e37_79b9 + 1).repeat(1 + i % 2)
}

/// Without a delay for merging, a log's entries cover the times from the first to the last.
fn coverage(logs: &[(&str, u64, u64)]) -> CRLiteCoverage {
    let entries = logs.iter().map(|(name, low, high)| {
        let id = base64(&letters(name));
        format!(r#"{{"LogID":"{id}","MinTimestamp":{low},"MaxTimestamp":{high},"MMD":0,"MinEntry":0}}"#)
    });
    let json = format!("[{}]", entries.collect::<Vec<_>>().join(","));
    CRLiteCoverage::from_mozilla_ct_logs_json(json.as_bytes())
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for piece in bytes.chunks(3) {
        let bits = piece.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - piece.len()));
        for i in 0..4 {
            text.push(if i <= piece.len() { DIGITS[(bits >> (18 - 6 * i)) as usize % 64] as char } else { '=' });
        }
    }
    text
}

fn build(issuers: &[Issuer], logs: &[(&str, u64, u64)]) -> Clubcard {
    let mut builder = ClubcardBuilder::new();
    let approximate = issuers.iter().map(|issuer| {
        let mut ribbon = builder.new_approx_builder(&issuer.id().0);
        ribbon.set_universe_size(issuer.certificates);
        ribbon.set_inverted(issuer.is_inverted());
        let encoded = (0..issuer.certificates).filter(|i| (*i < issuer.revoked) != issuer.is_inverted());
        encoded.for_each(|i| ribbon.insert(issuer.item(i)));
        ApproximateRibbon::from(ribbon)
    });
    let approximate = approximate.collect();
    builder.collect_approx_ribbons(approximate);
    let exact = issuers.iter().map(|issuer| {
        let mut ribbon = builder.new_exact_builder(&issuer.id().0);
        (0..issuer.certificates).for_each(|i| ribbon.insert(issuer.item(i)));
        ExactRibbon::from(ribbon)
    });
    let exact = exact.collect();
    builder.collect_exact_ribbons(exact);
    builder.build::<CRLiteQuery>(coverage(logs), ())
}

/// Writes a clubcard in both encodings, the list of keys that a lookup has to find, and the owner's answers.
fn write(name: &str, issuers: &[Issuer], logs: &[(&str, u64, u64)], clubcard: Clubcard) {
    let folder = PathBuf::from(std::env::args().nth(1).expect("a folder")).join("clubcard");
    std::fs::create_dir_all(&folder).unwrap();
    let clubcard = CRLiteClubcard::from(clubcard);
    let (mut keys, mut answers) = (String::new(), String::new());
    // Three times as many serials as certificates, and an issuer and a log that the clubcard does not know.
    let unknown = issuer("unknown-issuer", 20, 0);
    for issuer in issuers.iter().chain([&unknown]) {
        let id = issuer.id();
        let name = str::from_utf8(&id.0).unwrap();
        let mut digits = String::new();
        for i in 0..3 * issuer.certificates {
            let serial = serial(i);
            let key = CRLiteKey::new(&id, serial.as_bytes());
            let is_revoked = clubcard.as_ref().unchecked_contains(&CRLiteQuery::new(&key, None));
            if is_revoked && i < issuer.certificates {
                writeln!(keys, "{name}{serial}").unwrap();
            }
            write!(digits, "{}", u8::from(is_revoked)).unwrap();
        }
        writeln!(answers, "serials {name} {digits}").unwrap();
        // What a certificate is that some log has: good or revoked if the issuer takes part.
        let (log, low, _) = logs[0];
        let key = CRLiteKey::new(&id, b"1");
        let status = clubcard.contains(&key, [(LogId(letters(log)), Timestamp(low))].into_iter());
        writeln!(answers, "key {name} {}", u8::from(status != CRLiteStatus::NotEnrolled)).unwrap();
    }
    // A time of a log is eight letters here, and so a number of 64 bits.
    for (log, low, high) in logs.iter().chain(&[("unknown-log", MIDDLE, MIDDLE)]) {
        for time in [*low - 1, *low, MIDDLE, *high, *high + 1] {
            let id = unknown.id();
            let key = CRLiteKey::new(&id, b"1");
            let status = clubcard.contains(&key, [(LogId(letters(log)), Timestamp(time))].into_iter());
            let is_covered = u8::from(status != CRLiteStatus::NotCovered);
            let letters = format!("{log:-<32}{}", str::from_utf8(&time.to_be_bytes()).unwrap());
            writeln!(answers, "key {letters} {is_covered}").unwrap();
            if is_covered == 1 {
                writeln!(keys, "{letters}").unwrap();
            }
        }
    }
    std::fs::write(folder.join(format!("{name}.keys")), keys).unwrap();
    std::fs::write(folder.join(format!("{name}.answers")), answers).unwrap();
    // The owner is not asked for `absent-i`: an issuer has 32 bytes.
    for (version, encoding) in [("v3", Encoding::V3), ("v4", Encoding::V4)] {
        let bytes = clubcard.to_bytes(encoding).unwrap();
        std::fs::write(folder.join(format!("{name}-{version}.bin")), bytes).unwrap();
        println!("clubcard clubcard/{name}-{version}.bin clubcard/{name}.keys 0");
    }
}

/// A time that most logs here cover: the letters "mmmmmmmm".
const MIDDLE: u64 = u64::from_be_bytes(*b"mmmmmmmm");

const LOW: u64 = u64::from_be_bytes(*b"bbbbbbbb");
const HIGH: u64 = u64::from_be_bytes(*b"yyyyyyyy");

fn main() {
    let issuers = [
        issuer("few-revoked", 600, 17),
        issuer("many-revoked", 200, 150),
        issuer("half-revoked", 100, 50),
        issuer("none-revoked", 40, 0),
        issuer("all-revoked", 30, 30),
        issuer("one-revoked", 1000, 1),
        issuer("long-columns", 1500, 300),
    ];
    let logs = [("first-log", LOW, HIGH), ("second-log", LOW, MIDDLE - 1), ("third-log", MIDDLE, HIGH)];
    write("issuers", &issuers, &logs, build(&issuers, &logs));

    // Exceptions are too rare to wait for: a certificate that was encoded as revoked is one after the fact.
    let issuers = [issuer("few-revoked", 40, 3), issuer("many-revoked", 40, 30)];
    let mut clubcard = build(&issuers, &logs[..1]);
    let except = |clubcard: &mut Clubcard, issuer: &Issuer, numbers: &[usize]| {
        let entry = clubcard.index.get_mut(&issuer.id().0[..]).unwrap();
        entry.exceptions.extend(numbers.iter().map(|i| serial(*i).into_bytes()));
    };
    except(&mut clubcard, &issuers[0], &[1]);
    except(&mut clubcard, &issuers[1], &[38, 39]);
    write("exceptions", &issuers, &logs[..1], clubcard);
}
