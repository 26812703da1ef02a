//! Keys of the keyspace that hold values of the module's types.

use super::value::{Changing, DataType, Value};
use super::{Argument, Context, Refusal, api};
use redis_module::raw;
use std::ffi::c_int;
use std::ptr::NonNull;

/// A key that is open.
pub struct Key {
    raw: *mut raw::RedisModuleKey,
}

impl Key {
    /// Opens a key for reading.
    pub fn read(context: &Context, name: &Argument) -> Key {
        Key::open(context, name, raw::REDISMODULE_READ)
    }

    /// Opens a key for a change, or for a new value.
    pub fn write(context: &Context, name: &Argument) -> Key {
        Key::open(context, name, raw::REDISMODULE_READ | raw::REDISMODULE_WRITE)
    }

    fn open(context: &Context, name: &Argument, mode: u32) -> Key {
        // SAFETY: context and name are valid as long as the command runs. Dropping this `Key` closes the key, before
        // the command ends.
        Key { raw: unsafe { api!(RedisModule_OpenKey(context.raw(), name.0, mode as c_int)) }.cast() }
    }

    /// The value of this type that the key holds; `None` if there is no key.
    ///
    /// # Errors
    /// [`Refusal::WrongType`] if it holds something else.
    pub fn value<T: DataType>(&self) -> Result<Option<&Value<T>>, Refusal> {
        Ok(self.pointer::<T>()?.map(|value| {
            // SAFETY: the server's one thread runs the command, so nobody else has this value of type `T`. The key's
            // borrow bounds the value's borrow, and only `&mut self` changes the value.
            unsafe { value.as_ref() }
        }))
    }

    /// The value of this type that the key holds; `None` if there is no key. The key must be open for a change.
    ///
    /// # Errors
    /// The errors of [`Key::value`].
    pub fn value_mut<T: DataType>(&mut self) -> Result<Option<&mut Value<T>>, Refusal> {
        Ok(self.pointer::<T>()?.map(|mut value| {
            // SAFETY: a value of this type, as in `value`. `&mut self` is exclusive for as long as the value is
            // borrowed.
            unsafe { value.as_mut() }
        }))
    }

    /// The value of this type that the key holds, ready for a change; `None` if there is no key.
    ///
    /// # Errors
    /// The errors of [`Key::value`] and of [`Value::to_change`].
    pub fn to_change<T: DataType>(&mut self, context: &Context) -> Result<Option<Changing<'_, T>>, Refusal> {
        self.value_mut::<T>()?.map(|value| value.to_change(context)).transpose()
    }

    /// The value of this type that the key holds, ready for a change. If there is no key, `make` makes the value first.
    ///
    /// # Errors
    /// The errors of [`Key::to_change`] and of `make`.
    pub fn to_change_or<T: DataType>(
        &mut self,
        context: &Context,
        make: impl FnOnce(&mut Key) -> Result<(), Refusal>,
    ) -> Result<Changing<'_, T>, Refusal> {
        let mut value = match self.pointer::<T>()? {
            Some(value) => value,
            None => {
                make(self)?;
                self.pointer::<T>()?.ok_or(Refusal::INTERNAL)?
            }
        };
        // SAFETY: a value of this type. `&mut self` borrows the value exclusively, as in `value_mut`.
        unsafe { value.as_mut() }.to_change(context)
    }

    /// Whether the key holds a value of this type.
    #[inline]
    pub fn holds<T: DataType>(&self) -> bool {
        // SAFETY: the key is open, and null is a key that does not exist.
        unsafe { !self.raw.is_null() && api!(RedisModule_ModuleTypeGetType(self.raw)) == T::registered() }
    }

    fn pointer<T: DataType>(&self) -> Result<Option<NonNull<Value<T>>>, Refusal> {
        if self.raw.is_null() {
            return Ok(None);
        }
        // SAFETY: the key is open. A value of this type was made by `set` or by a function of the type.
        unsafe {
            // Null for a key that does not exist, and for a type of the server itself.
            let of = api!(RedisModule_ModuleTypeGetType(self.raw));
            if of == T::registered() {
                return Ok(NonNull::new(api!(RedisModule_ModuleTypeGetValue(self.raw)).cast::<Value<T>>()));
            }
            match api!(RedisModule_KeyType(self.raw)) as isize {
                raw::REDISMODULE_KEYTYPE_EMPTY => Ok(None),
                raw::REDISMODULE_KEYTYPE_MODULE => Err(T::refusal_of(of)),
                _ => Err(Refusal::WrongType),
            }
        }
    }

    /// Stores the value in the key, which must be open for a change.
    pub fn set<T: DataType>(&mut self, value: Box<Value<T>>) {
        // SAFETY: the key is open for writing. From now on the server owns the value, and frees the value through its
        // type.
        unsafe {
            let value = Box::into_raw(value);
            if api!(RedisModule_ModuleTypeSetValue(self.raw, T::registered(), value.cast())) != super::OK {
                drop(Box::from_raw(value));
            }
        }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: the key is open, and `drop` closes the key once.
            unsafe { api!(RedisModule_CloseKey(self.raw)) };
        }
    }
}
