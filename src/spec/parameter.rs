//! Parameters that only some kinds take: their names, bounds and defaults.

use super::Number;
use crate::error::{List, Result, error};
use core::fmt;

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// Whole numbers from the first to the second, both included.
    Integer(u64, u64),
    /// 0, which leaves the choice to the kind, or whole numbers from the first to the second, both included.
    Automatic(u64, u64),
    /// One of these whole numbers, in ascending order. A header word of 0 stands for the first one.
    OneOf(&'static [u64]),
    /// Real numbers from the first to the second, both included.
    Real(f64, f64),
    /// One of these names; its value is the position in the list.
    Choice(&'static [&'static str]),
}

/// A parameter that some kind takes beyond what every spec holds. Kinds may have parameters of the same name, each with
/// its own bounds and meaning.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The parameter's name, the same in Rust, C, the command and the documentation.
    pub name: &'static str,
    /// What the parameter does, in a sentence.
    pub summary: &'static str,
    /// The value of the parameter when it is not set.
    pub default: f64,
    /// The values it may have.
    pub domain: Domain,
    /// Which of the header's kind words keeps the parameter's value (the bits of it for a real number), if the payload
    /// cannot be read without it.
    pub word: Option<usize>,
}

/// What moves the window of a kind on that forgets its oldest keys. Each such kind has a header word for this.
pub const CLOCK: Parameter = Parameter {
    name: "clock",
    summary: "the unit of the window: keys (the last capacity keys), or steps of time (with capacity keys in \
    each step)",
    default: 0.0,
    domain: Domain::Choice(&["keys", "steps"]),
    word: None,
};

impl Parameter {
    /// The number by which specs refer to the parameter: FNV-1a of its name, so that no central list is needed.
    pub const fn id(&self) -> u32 {
        let name = self.name.as_bytes();
        let (mut id, mut i) = (0x811c_9dc5_u32, 0);
        while i < name.len() {
            id = (id ^ name[i] as u32).wrapping_mul(0x0100_0193);
            i += 1;
        }
        id
    }

    /// The least and the greatest value.
    pub const fn bounds(&self) -> (f64, f64) {
        match self.domain {
            Domain::Integer(minimum, maximum) => (minimum as f64, maximum as f64),
            Domain::Automatic(_, maximum) => (0.0, maximum as f64),
            Domain::OneOf(values) => (values[0] as f64, values[values.len() - 1] as f64),
            Domain::Real(minimum, maximum) => (minimum, maximum),
            Domain::Choice(names) => (0.0, names.len() as f64 - 1.0),
        }
    }

    /// The names of a choice; none for a number.
    pub const fn choices(&self) -> &'static [&'static str] {
        match self.domain {
            Domain::Choice(names) => names,
            _ => &[],
        }
    }

    /// The value of a header word that keeps this parameter.
    pub fn value_of_word(&self, word: u64) -> f64 {
        match self.domain {
            Domain::Real(..) => f64::from_bits(word),
            Domain::OneOf(values) if word == 0 => values[0] as f64,
            _ => word as f64,
        }
    }

    /// `value`, if it is inside the bounds and, except for real numbers, whole.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange).
    pub fn check(&self, value: f64) -> Result<f64> {
        let (minimum, maximum) = self.bounds();
        let is_one = match self.domain {
            Domain::Real(..) => true,
            Domain::OneOf(values) => values.iter().any(|one| *one as f64 == value),
            Domain::Automatic(least, _) => value.fract() == 0.0 && (value == 0.0 || value >= least as f64),
            Domain::Integer(..) | Domain::Choice(_) => value.fract() == 0.0,
        };
        if value >= minimum && value <= maximum && is_one {
            return Ok(value);
        }
        Err(self.refusal(format_args!("{}", Number(value))))
    }

    /// The value of a choice by its name or its number, or of a number by its digits.
    ///
    /// # Errors
    /// [`Status::UnknownValue`](crate::Status::UnknownValue) for a choice that does not exist,
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for a number out of bounds.
    pub fn parse(&self, text: &str) -> Result<f64> {
        self.read(text, text.parse().ok())
    }

    /// [`Parameter::parse`] for when somebody else has read the digits: `number` is the number that `text` stands for,
    /// if it is one.
    ///
    /// # Errors
    /// As [`Parameter::parse`].
    pub fn read(&self, text: &str, number: Option<f64>) -> Result<f64> {
        let names = self.choices();
        if let Some(position) = names.iter().position(|name| *name == text) {
            return Ok(position as f64);
        }
        match number.map(|value| self.check(value)) {
            Some(Ok(value)) => Ok(value),
            _ if !names.is_empty() => Err(error!(UnknownValue, "{} = {text} is not one of {}", self.name, List(names))),
            Some(refused) => refused,
            None => Err(self.refusal(format_args!("{text}"))),
        }
    }

    fn refusal(&self, value: fmt::Arguments) -> crate::Error {
        if let Domain::OneOf(values) = self.domain {
            return error!(OutOfRange, "{} = {value} is not one of {}", self.name, List(values));
        }
        let (minimum, maximum) = self.bounds();
        let (what, minimum) = match self.domain {
            Domain::Real(..) => ("a number", minimum),
            Domain::Automatic(least, _) => ("0, for automatic, or a whole number", least as f64),
            _ => ("a whole number", minimum),
        };
        let (minimum, maximum) = (Number(minimum), Number(maximum));
        error!(OutOfRange, "{} = {value} is not {what} from {minimum} to {maximum}", self.name)
    }
}
