//! Keys of the keyspace that hold values of the module's types.

use super::value::{Changing, DataType, Value};
use super::{Argument, Context, Refusal, api};
use redis_module::raw;
use std::ffi::c_int;
use std::ptr::NonNull;

/// A key, opened.
pub struct Key {
    raw: *mut raw::RedisModuleKey,
}

impl Key {
    /// A key to be read.
    pub fn read(context: &Context, name: &Argument) -> Key {
        Key::open(context, name, raw::REDISMODULE_READ)
    }

    /// A key to be changed, or made.
    pub fn write(context: &Context, name: &Argument) -> Key {
        Key::open(context, name, raw::REDISMODULE_READ | raw::REDISMODULE_WRITE)
    }

    fn open(context: &Context, name: &Argument, mode: u32) -> Key {
        // SAFETY: context and name are valid as long as the command runs; the key is closed when this is dropped, which
        // is before.
        Key { raw: unsafe { api!(RedisModule_OpenKey(context.raw(), name.0, mode as c_int)) }.cast() }
    }

    /// The value of this type that the key holds; `None` if there is no key.
    ///
    /// # Errors
    /// [`Refusal::WrongType`] if it holds something else.
    pub fn value<T: DataType>(&self) -> Result<Option<&Value<T>>, Refusal> {
        Ok(self.pointer::<T>()?.map(|value| {
            // SAFETY: a value of this type, which nobody else has while a command runs in the server's one thread; it
            // is borrowed as long as the key is, and changed through `&mut self` only.
            unsafe { value.as_ref() }
        }))
    }

    /// The value of this type that the key, which was opened to be changed, holds; `None` if there is no key.
    ///
    /// # Errors
    /// The errors of [`Key::value`].
    pub fn value_mut<T: DataType>(&mut self) -> Result<Option<&mut Value<T>>, Refusal> {
        Ok(self.pointer::<T>()?.map(|mut value| {
            // SAFETY: a value of this type, as in `value`; `&mut self` borrows it exclusively as long as it borrows the
            // key.
            unsafe { value.as_mut() }
        }))
    }

    /// The value of this type that the key holds, to be changed; `None` if there is no key.
    ///
    /// # Errors
    /// The errors of [`Key::value`] and of [`Value::to_change`].
    pub fn to_change<T: DataType>(&mut self, context: &Context) -> Result<Option<Changing<'_, T>>, Refusal> {
        self.value_mut::<T>()?.map(|value| value.to_change(context)).transpose()
    }

    /// The value of this type that the key holds, to be changed, once `make` has made it if there is no key.
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
        // SAFETY: a value of this type, borrowed exclusively through `&mut self`, as in `value_mut`.
        unsafe { value.as_mut() }.to_change(context)
    }

    fn pointer<T: DataType>(&self) -> Result<Option<NonNull<Value<T>>>, Refusal> {
        if self.raw.is_null() {
            return Ok(None);
        }
        // SAFETY: the key is open. A value whose type is this one is what `set` or the type's functions made.
        unsafe {
            let kind = api!(RedisModule_KeyType(self.raw));
            if kind == raw::REDISMODULE_KEYTYPE_EMPTY as c_int {
                return Ok(None);
            }
            if kind != raw::REDISMODULE_KEYTYPE_MODULE as c_int {
                return Err(Refusal::WrongType);
            }
            let of = api!(RedisModule_ModuleTypeGetType(self.raw));
            if of != T::registered() {
                return Err(T::refusal_of(of));
            }
            Ok(NonNull::new(api!(RedisModule_ModuleTypeGetValue(self.raw)).cast::<Value<T>>()))
        }
    }

    /// Makes the key, which was opened to be changed, hold this value.
    pub fn set<T: DataType>(&mut self, value: Box<Value<T>>) {
        // SAFETY: the key is open for writing; the value is the server's from now on, which frees it through the type.
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
            // SAFETY: the key is open, and closed once.
            unsafe { api!(RedisModule_CloseKey(self.raw)) };
        }
    }
}
