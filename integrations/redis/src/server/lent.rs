//! Values lent to the module's thread, and results that replace these values.

use super::beside::Busy;
use super::command::Handler;
use super::key::Key;
use super::shared::Shared;
use super::value::{DataType, Value};
use super::{Argument, Context, Refusal};
use std::sync::Arc;

/// Values of keys, lent to the module's thread.
pub struct Lent<T> {
    /// The values of the keys that exist.
    pub values: Vec<Shared<T>>,
    /// The stamp of each key's value; `None` where the key does not exist.
    stamps: Vec<Option<u64>>,
    /// The memory of all values in bytes.
    pub bytes: usize,
    /// The mark that the values are lent.
    pub busy: Arc<Busy>,
}

impl<T: DataType> Lent<T> {
    /// Lends the values of the keys that exist.
    ///
    /// # Errors
    /// [`Refusal::WrongType`].
    pub fn of(context: &Context, names: &[Argument]) -> Result<Lent<T>, Refusal> {
        let mut lent = Lent { values: Vec::new(), stamps: Vec::new(), bytes: 0, busy: Arc::default() };
        for name in names {
            let key = Key::read(context, name);
            let value = key.value::<T>()?;
            if let Some(value) = value {
                lent.bytes = lent.bytes.saturating_add(value.bytes());
                lent.values.push(value.lend(&lent.busy));
            }
            lent.stamps.push(value.and_then(Value::stamp));
        }
        Ok(lent)
    }
}

/// Whether these keys still have the values with these stamps.
fn are_as_lent<T: DataType>(context: &Context, names: &[Argument], stamps: &[Option<u64>]) -> bool {
    names
        .iter()
        .zip(stamps)
        .all(|(name, stamp)| Key::read(context, name).value::<T>().is_ok_and(|value| is_as_lent(value, *stamp)))
}

/// Whether a key still has the value with this stamp, or still has none.
fn is_as_lent<T: DataType>(value: Option<&Value<T>>, stamp: Option<u64>) -> bool {
    // A lent value has a stamp, so a value without one is another value.
    value.is_some() == stamp.is_some() && value.and_then(Value::stamp) == stamp
}

/// Makes a value from the values of the first `keys` arguments, in the module's thread if they are large. The result
/// replaces the value of the first key, all or nothing, and `reply` replies. If a key has changed meanwhile, the
/// command runs again.
pub fn replace<T: DataType>(
    context: &Context,
    arguments: &[Argument],
    keys: usize,
    command: Handler,
    reply: fn(&Context),
    make: impl FnOnce(&[Shared<T>]) -> Result<T, Refusal> + Send + 'static,
) -> Result<(), Refusal> {
    let Lent { values, stamps, bytes, busy } = Lent::<T>::of(context, &arguments[1..=keys])?;
    let bytes = arguments.iter().fold(bytes, |sum, argument| sum.saturating_add(argument.bytes().len()));
    context.beside(arguments, bytes, busy, move || {
        let made = Value::make(|| make(&values));
        // Nothing reads the lent values any more: from now on commands may change them.
        drop(values);
        Box::new(move |context, arguments| {
            if !are_as_lent::<T>(context, &arguments[1..=keys], &stamps) {
                return command(context, arguments);
            }
            let (mut key, made) = (Key::write(context, &arguments[1]), made?);
            match key.value_mut::<T>()? {
                Some(value) => value.replace(made),
                None => key.set(made),
            }
            context.replicate_verbatim();
            reply(context);
            Ok(())
        })
    })
}
