//! What serde makes of Petal's values: names and numbers of a spec, and the bytes of a handle's image.
//!
//! Only the feature `serde` compiles this file.

use crate::contract::Row;
use crate::error::{Error, error};
use crate::handle::filter::Filter;
use crate::handle::image::Image;
use crate::hash::HashFunction;
use crate::making::{OpenOptions, load_as, parameter_of};
use crate::registry::{self, OWN};
use crate::simd::Kernel;
use crate::spec::{Domain, KindId, MAX_PARAMETERS, Parameter, Setting, Spec};
use core::fmt;
use core::marker::PhantomData;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{self, Serialize, SerializeMap, SerializeStruct, Serializer};

/// A value that is written as its name, and read from it.
macro_rules! named {
    ($($type:ty, $what:literal;)*) => {$(
        impl Serialize for $type {
            /// Writes the name.
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            /// Reads the name.
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                struct Name;

                impl Visitor<'_> for Name {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!("the name of ", $what))
                    }

                    fn visit_str<E: de::Error>(self, name: &str) -> Result<$type, E> {
                        name.parse().map_err(E::custom)
                    }
                }

                deserializer.deserialize_str(Name)
            }
        }
    )*};
}

named! {
    KindId, "a kind";
    HashFunction, "a hash function";
    Kernel, "a kernel";
}

/// A spec as names and numbers: what is not there has its default.
#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename = "Spec")]
struct Readable {
    kind: Option<KindId>,
    capacity: u64,
    false_positive_rate: f64,
    bits: u64,
    hashes: u32,
    hash: HashFunction,
    seed: u64,
    kernel: Kernel,
    parameters: Parameters,
}

impl Default for Readable {
    fn default() -> Readable {
        let Spec { kind, capacity, false_positive_rate, bits, hashes, hash, seed, kernel, .. } = Spec::default();
        let parameters = Parameters::default();
        Readable { kind, capacity, false_positive_rate, bits, hashes, hash, seed, kernel, parameters }
    }
}

/// The parameters of a spec with their names.
#[derive(Default)]
struct Parameters(Vec<(String, Value)>);

/// The value of a parameter: a number, or the name of a choice.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Value {
    Number(f64),
    Name(String),
}

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Parameters, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Parameters;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("parameters with their values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parameters, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    if pairs.len() == MAX_PARAMETERS {
                        return Err(de::Error::custom(format_args!("a spec has at most {MAX_PARAMETERS} parameters")));
                    }
                    pairs.push(pair);
                }
                Ok(Parameters(pairs))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}

/// The settings of a spec, to be written with their names.
struct Settings<'a>(&'a Spec);

impl Settings<'_> {
    fn set(&self) -> impl Iterator<Item = &Setting> {
        self.0.parameters.iter().filter(|setting| setting.id != 0)
    }

    /// The parameter of a setting: the kind's, or one of the same name where the kind has none.
    fn parameter(&self, setting: &Setting) -> Result<&'static Parameter, Error> {
        let of = |row: &'static Row| row.parameters.iter().copied().find(|parameter| parameter.id() == setting.id);
        let own = registry::find(self.0.kind.unwrap_or(registry::DEFAULT_KIND)).and_then(of);
        own.or_else(|| registry::every().chain(OWN).find_map(of))
            .ok_or_else(|| error!(UnknownValue, "parameter id {:#x} is not known to any kind", setting.id))
    }
}

impl Serialize for Settings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.set().count()))?;
        for setting in self.set() {
            let Parameter { name, domain, .. } = self.parameter(setting).map_err(ser::Error::custom)?;
            let whole = setting.value as u64;
            match domain {
                Domain::Choice(names) if whole as f64 == setting.value && (whole as usize) < names.len() => {
                    map.serialize_entry(name, names[whole as usize])?;
                }
                _ if whole as f64 == setting.value => map.serialize_entry(name, &whole)?,
                _ => map.serialize_entry(name, &setting.value)?,
            }
        }
        map.end()
    }
}

/// What formats write that people do not read: every value as a number, in this order.
type Numbers = (Option<u32>, u64, f64, u64, u32, u32, u64, u32, Vec<(u32, f64)>);

impl Serialize for Spec {
    /// Writes what is not the default, as names and numbers, or all of it as numbers in a format that people do not
    /// read. The secret key is never written.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Spec { kind, capacity, false_positive_rate, bits, hashes, hash, seed, secret: _, kernel, .. } = *self;
        let settings = Settings(self);
        if !serializer.is_human_readable() {
            let parameters = settings.set().map(|setting| (setting.id, setting.value)).collect();
            let kind = kind.map(|kind| kind.0);
            let numbers: Numbers =
                (kind, capacity, false_positive_rate, bits, hashes, hash as u32, seed, kernel as u32, parameters);
            return numbers.serialize(serializer);
        }
        let unset = Spec::default();
        let is_set = [
            kind.is_some(),
            capacity != 0,
            false_positive_rate != 0.0,
            bits != 0,
            hashes != 0,
            hash != unset.hash,
            seed != 0,
            kernel != unset.kernel,
            settings.set().next().is_some(),
        ];
        let mut spec = serializer.serialize_struct("Spec", is_set.iter().filter(|set| **set).count())?;
        let mut is_set = is_set.into_iter();
        macro_rules! write_fields {
            ($($name:literal $value:expr,)*) => {$(
                match is_set.next() {
                    Some(true) => spec.serialize_field($name, $value)?,
                    _ => spec.skip_field($name)?,
                }
            )*};
        }
        write_fields! {
            "kind" &kind,
            "capacity" &capacity,
            "false_positive_rate" &false_positive_rate,
            "bits" &bits,
            "hashes" &hashes,
            "hash" &hash,
            "seed" &seed,
            "kernel" &kernel,
            "parameters" &settings,
        }
        spec.end()
    }
}

impl<'de> Deserialize<'de> for Spec {
    /// Reads what a spec is written as. The secret key of a keyed hash function is not there: set it before the spec is
    /// used.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Spec, D::Error> {
        if deserializer.is_human_readable() {
            Readable::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
        } else {
            of_numbers(Numbers::deserialize(deserializer)?).map_err(de::Error::custom)
        }
    }
}

impl TryFrom<Readable> for Spec {
    type Error = Error;

    fn try_from(read: Readable) -> Result<Spec, Error> {
        let Readable { kind, capacity, false_positive_rate, bits, hashes, hash, seed, kernel, parameters } = read;
        let mut spec =
            Spec { kind, capacity, false_positive_rate, bits, hashes, hash, seed, kernel, ..Spec::default() };
        for (name, value) in parameters.0 {
            let parameter = parameter_of(&spec, &name)?;
            let value = match value {
                Value::Number(number) => parameter.check(number)?,
                Value::Name(text) => parameter.parse(&text)?,
            };
            spec.set(parameter, value)?;
        }
        Ok(spec)
    }
}

fn of_numbers(numbers: Numbers) -> Result<Spec, Error> {
    let (kind, capacity, false_positive_rate, bits, hashes, hash, seed, kernel, parameters) = numbers;
    let (hash, kernel) = (HashFunction::from_number(hash)?, Kernel::from_number(kernel)?);
    let kind = kind.map(KindId);
    let mut spec = Spec { kind, capacity, false_positive_rate, bits, hashes, hash, seed, kernel, ..Spec::default() };
    if parameters.len() > MAX_PARAMETERS {
        let given = parameters.len();
        return Err(error!(Contradiction, "{given} parameters are more than the {MAX_PARAMETERS} of a spec"));
    }
    for (place, (id, value)) in spec.parameters.iter_mut().zip(parameters) {
        *place = Setting { id, value };
    }
    Ok(spec)
}

/// Reads the image of a handle.
struct Bytes<H>(PhantomData<H>);

impl<'de, H: Image> Visitor<'de> for Bytes<H> {
    type Value = H;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of an image")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<H, E> {
        load_as(bytes, &OpenOptions::default()).map_err(E::custom)
    }

    /// For formats without bytes, such as JSON, which have a list of numbers.
    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<H, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element::<u8>()? {
            if bytes.try_reserve(1).is_err() {
                let error = error!(OutOfMemory, "{} bytes of an image could not be had", bytes.len());
                return Err(de::Error::custom(error));
            }
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

macro_rules! images {
    ($($handle:path)*) => {$(
        impl Serialize for $handle {
            /// Writes the image, as bytes.
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(&self.to_bytes().map_err(ser::Error::custom)?)
            }
        }

        impl<'de> Deserialize<'de> for $handle {
            /// Reads an image into new memory, and checks all of it. With a keyed hash function the handle has no
            /// secret key and hashes no keys.
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$handle, D::Error> {
                deserializer.deserialize_byte_buf(Bytes(PhantomData))
            }
        }
    )*};
}

images! { Filter }
#[cfg(feature = "map")]
images! { crate::Map }
#[cfg(feature = "sketch")]
images! { crate::Sketch }
#[cfg(feature = "router")]
images! { crate::Router }
#[cfg(feature = "aggregate")]
images! { crate::Aggregate }
#[cfg(feature = "digest")]
images! { crate::Digest }
#[cfg(feature = "index")]
images! { crate::Index }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Map;

    fn scalable() -> Spec {
        let mut spec = Spec {
            kind: Some(KindId::SCALABLE),
            capacity: 1000,
            hash: HashFunction::SipHash13,
            secret: Some([7; 16]),
            ..Spec::default()
        };
        for (name, value) in [("level", "bloom"), ("tightening", "0.75")] {
            let parameter = parameter_of(&spec, name).unwrap();
            spec.set(parameter, parameter.parse(value).unwrap()).unwrap();
        }
        spec
    }

    #[test]
    fn a_spec_is_names_and_numbers() {
        let text = concat!(
            r#"{"kind":"scalable","capacity":1000,"hash":"siphash13","#,
            r#""parameters":{"level":"bloom","tightening":0.75}}"#
        );
        assert_eq!(serde_json::to_string(&scalable()).unwrap(), text);
        let read: Spec = serde_json::from_str(text).unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", Spec { secret: None, ..scalable() }));
        assert_eq!(serde_json::to_string(&Spec::default()).unwrap(), "{}");
        let read: Spec = serde_json::from_str(r#"{"false_positive_rate": 1e-3, "kind": null, "seed": 7}"#).unwrap();
        assert_eq!((read.false_positive_rate, read.kind, read.seed), (0.001, None, 7));
    }

    #[test]
    fn numbers_are_the_same_spec() {
        let mut bytes = Vec::new();
        ciborium::into_writer(&scalable(), &mut bytes).unwrap();
        assert!(!bytes.windows(5).any(|part| part == b"bloom" || part == [7; 5]));
        let read: Spec = ciborium::from_reader(&*bytes).unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", Spec { secret: None, ..scalable() }));
    }

    #[test]
    fn what_no_spec_can_be_is_refused() {
        for (text, reason) in [
            (r#"{"kind":"fues"}"#, "kind = fues is no name of a kind, such as blocked"),
            (r#"{"hash":"md5"}"#, "hash = md5 is not one of xxh3, xxh64, siphash13, external"),
            (r#"{"kernel":"mmx"}"#, "kernel = mmx is not one of best, portable, avx2, avx512, neon"),
            (r#"{"key":[1]}"#, "unknown field `key`"),
            (r#"{"kind":"fuse","parameters":{"level":"bloom"}}"#, "fuse takes no parameter level"),
            (r#"{"kind":"scalable","parameters":{"level":"blom"}}"#, "level = blom is not one of"),
            (r#"{"kind":"scalable","parameters":{"tightening":7}}"#, "tightening = 7 is not"),
        ] {
            let error = serde_json::from_str::<Spec>(text).unwrap_err();
            assert!(error.to_string().contains(reason), "{text}: {error}");
        }
        let mut spec = scalable();
        spec.parameters[7] = Setting { id: 1, value: 1.0 };
        let error = serde_json::to_string(&spec).unwrap_err();
        assert!(error.to_string().contains("parameter id 0x1 is not known to any kind"), "{error}");
    }

    #[test]
    fn a_handle_is_the_bytes_of_its_image() {
        let mut filter = Filter::with_capacity(100, 0.01).unwrap();
        filter.insert("apple").unwrap();
        let image = filter.to_bytes().unwrap();

        let mut bytes = Vec::new();
        ciborium::into_writer(&filter, &mut bytes).unwrap();
        assert!(bytes.ends_with(&image) && bytes.len() < image.len() + 10);
        let read: Filter = ciborium::from_reader(&*bytes).unwrap();
        assert!(read.contains("apple") && read.equals(&filter));

        let text = serde_json::to_string(&filter).unwrap();
        assert_eq!(text, serde_json::to_string(&image).unwrap());
        assert!(serde_json::from_str::<Filter>(&text).unwrap().equals(&filter));
        let error = serde_json::from_str::<Map>(&text).unwrap_err();
        assert!(error.to_string().contains("not of map"), "{error}");
        assert!(serde_json::from_str::<Filter>("[1, 2, 3]").is_err());
    }
}
