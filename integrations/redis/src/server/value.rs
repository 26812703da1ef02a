//! Types of values: what the server needs of one, and the functions through which it asks.

use super::beside::{Busy, do_beside, is_servers_thread};
use super::memory::{is_full, measured};
use super::persistence::{Commands, Digest, Reader, Unreadable, Writer};
use super::{Context, Refusal, api};
use crate::defaults;
use redis_module::raw;
use std::cell::RefCell;
use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// From this size on a value is freed by another thread when the server frees lazily.
const LAZY_FROM: usize = 64 << 10;

/// How long a change waits before it looks again whether the value is lent still.
const MOMENT: Duration = Duration::from_micros(100);

/// A type of values.
pub trait DataType: Sized + Send + Sync + 'static {
    /// Nine letters that RDB files know it by.
    const NAME: &'static CStr;
    /// The version of what is written.
    const VERSION: c_int;

    /// Where the server's handle of the type is kept.
    fn handle() -> &'static AtomicPtr<raw::RedisModuleType>;

    /// A value that was written.
    fn read(from: &mut Reader) -> Result<Self, Unreadable>;

    /// Writes a value.
    fn write(&self, to: &mut Writer);

    /// Writes the commands that make the value.
    fn rewrite(&self, to: &mut Commands);

    /// Says what is the same in two values exactly if they are.
    fn digest(&self, to: &mut Digest);

    /// A copy of the value, with memory of its own.
    fn copy(&self) -> petal::Result<Self>;

    /// The server's handle of the type.
    fn registered() -> *mut raw::RedisModuleType {
        Self::handle().load(Ordering::Relaxed)
    }
}

/// A value, and the memory that it has.
pub struct Value<T> {
    value: Arc<T>,
    /// One for each key that has this very value: those that a key was copied to and that have not changed since.
    holders: Arc<()>,
    /// A value of its own for a key that shares one, once it is made beside the server's thread.
    own: Own<T>,
    /// That it is being made.
    making: Weak<Busy>,
    bytes: usize,
    /// Where the value is looked at beside the server's thread.
    busy: RefCell<Vec<Weak<Busy>>>,
    /// Another one whenever the value is: where two looks at a key find the same, nothing has changed.
    stamp: u64,
}

type Own<T> = Arc<Mutex<Option<Box<Value<T>>>>>;

impl<T> Value<T> {
    /// What `make` makes, with the memory that it took.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn make<E>(make: impl FnOnce() -> Result<T, E>) -> Result<Box<Value<T>>, E> {
        let (made, bytes) = measured(|| make().map(|value| Value::of(Arc::new(value), Arc::default())));
        let mut made = made?;
        made.bytes = bytes.max(0) as usize;
        Ok(made)
    }

    fn of(value: Arc<T>, holders: Arc<()>) -> Box<Value<T>> {
        Box::new(Value {
            value,
            holders,
            own: Own::default(),
            making: Weak::new(),
            bytes: 0,
            busy: RefCell::default(),
            stamp: stamp(),
        })
    }

    /// This value for another key too, without memory for a copy. Of the two keys that one gets a copy of its own, before
    /// it changes, which is to be changed first.
    fn share(&self) -> Box<Value<T>> {
        let mut other = Value::of(Arc::clone(&self.value), Arc::clone(&self.holders));
        other.bytes = self.bytes;
        other
    }

    /// Whether other keys have this very value.
    fn is_shared(&self) -> bool {
        Arc::strong_count(&self.holders) > 1
    }

    /// The value.
    pub fn get(&self) -> &T {
        &self.value
    }

    /// How many bytes of memory it has, or will have of its own once it changes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The value for work beside the server's thread, until whose end it is `busy`.
    pub fn lend(&self, busy: &Arc<Busy>) -> Arc<T> {
        let mut all = self.busy.borrow_mut();
        all.retain(|busy| busy.strong_count() > 0);
        all.push(Arc::downgrade(busy));
        Arc::clone(&self.value)
    }

    /// What its stamp is.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Some work that it is lent to.
    fn busy(&self) -> Option<Arc<Busy>> {
        self.busy.borrow().iter().find_map(Weak::upgrade)
    }

    /// Changes the value, which nobody shares, and finds out what memory it then has. Where it is lent, waits until it
    /// is looked at no more.
    fn change<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        while Arc::strong_count(&self.value) > 1 {
            std::thread::sleep(MOMENT);
        }
        self.stamp = stamp();
        // Only this thread lends.
        let value = Arc::get_mut(&mut self.value).unwrap_or_else(|| unreachable!("a value that nobody else has"));
        let (result, bytes) = measured(|| change(value));
        self.bytes = self.bytes.saturating_add_signed(bytes);
        result
    }
}

/// A value that may be changed: no work beside the server's thread needs it as it is, and no other key has it.
pub struct Changing<'k, T>(&'k mut Value<T>);

impl<T> Changing<'_, T> {
    /// The value.
    pub fn get(&self) -> &T {
        self.0.get()
    }

    /// Changes it.
    pub fn change<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        self.0.change(change)
    }
}

impl<T: DataType> Value<T> {
    /// The value to be changed.
    ///
    /// # Errors
    /// [`Refusal::Later`] while work beside the server's thread needs it as it is, or makes it a value of its own where
    /// other keys have it as well; [`petal::Status::OutOfMemory`].
    pub fn to_change(&mut self, context: &Context) -> Result<Changing<'_, T>, Refusal> {
        let made = self.own.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some(made) = made {
            self.take_over(made);
        } else if self.is_shared() {
            if let Some(busy) = self.make_own(context) {
                return Err(Refusal::Later(busy));
            }
            let made = Value::make(|| self.value.copy())?;
            self.take_over(made);
        }
        self.check_free(context)?;
        Ok(Changing(self))
    }

    /// Whether it may be replaced.
    ///
    /// # Errors
    /// [`Refusal::Later`] while work beside the server's thread needs it.
    pub fn check_free(&self, context: &Context) -> Result<(), Refusal> {
        self.busy().filter(|_| context.can_wait()).map_or(Ok(()), |busy| Err(Refusal::Later(busy)))
    }

    /// Has a value of its own made for this key, beside the server's thread: what that is then busy with. `None` where
    /// it is made as fast here, or has to be.
    fn make_own(&mut self, context: &Context) -> Option<Arc<Busy>> {
        if !defaults::is_long(self.bytes) || !context.can_wait() {
            return None;
        }
        if let Some(busy) = self.making.upgrade() {
            return Some(busy);
        }
        let busy = Arc::default();
        let (value, own, until) = (Arc::clone(&self.value), Arc::clone(&self.own), Arc::clone(&busy));
        let is_begun = do_beside(move || {
            // Where there is no memory for it whoever waits finds that out.
            let made = Value::make(|| value.copy()).ok();
            drop(value);
            *own.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = made;
            drop(until);
        });
        self.making = Arc::downgrade(&busy);
        is_begun.then_some(busy)
    }

    /// Has the same value, of its own.
    fn take_over(&mut self, made: Box<Value<T>>) {
        let stamp = self.stamp;
        self.replace(made);
        self.stamp = stamp;
    }

    /// Puts another value into the place of this one, whose memory goes beside the server's thread: that takes long
    /// where it is much.
    pub fn replace(&mut self, other: Box<Value<T>>) {
        let old = std::mem::replace(self, *other);
        if defaults::is_long(old.bytes) {
            do_beside(move || drop(old));
        }
    }
}

/// A number that no value has had.
fn stamp() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Makes the type known to the server.
///
/// # Errors
/// Why it refuses.
pub fn register<T: DataType>(context: &Context) -> Result<(), String> {
    let mut methods = raw::RedisModuleTypeMethods {
        // What Redis 6.2 has.
        version: 3,
        rdb_load: Some(load::<T>),
        rdb_save: Some(save::<T>),
        aof_rewrite: Some(rewrite::<T>),
        mem_usage: Some(bytes_of::<T>),
        digest: Some(digest::<T>),
        free: Some(free::<T>),
        aux_load: None,
        aux_save: None,
        aux_save_triggers: 0,
        free_effort: Some(free_effort::<T>),
        unlink: None,
        copy: Some(copy::<T>),
        defrag: None,
        mem_usage2: None,
        free_effort2: None,
        unlink2: None,
        copy2: None,
        aux_save2: None,
    };
    // SAFETY: the context is valid, and the server copies the methods.
    let registered =
        unsafe { api!(RedisModule_CreateDataType(context.raw(), T::NAME.as_ptr(), T::VERSION, &raw mut methods)) };
    T::handle().store(registered, Ordering::Relaxed);
    if registered.is_null() {
        let name = T::NAME.to_string_lossy();
        return Err(format!("the server does not take the type {name}, which another module may have"));
    }
    Ok(())
}

/// Calls what must not unwind into the server.
fn guarded<R>(otherwise: R, call: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(otherwise)
}

/// The value behind the server's pointer.
///
/// # Safety
/// `value` came from [`load`], [`copy`] or `Key::set` of this type and is not freed; nobody changes it meanwhile.
unsafe fn behind<'a, T>(value: *const c_void) -> &'a Value<T> {
    // SAFETY: the caller's promise.
    unsafe { &*value.cast::<Value<T>>() }
}

unsafe extern "C" fn load<T: DataType>(from: *mut raw::RedisModuleIO, version: c_int) -> *mut c_void {
    // SAFETY: the server's pointer, valid until this returns.
    let mut reader = unsafe { Reader::new(from) };
    guarded(std::ptr::null_mut(), || {
        let made = match version == T::VERSION {
            true => Value::make(|| T::read(&mut reader)),
            false => Err(Unreadable),
        };
        match made {
            Ok(value) => Box::into_raw(value).cast(),
            Err(Unreadable) => {
                reader.warn(&format!("{} of version {version} cannot be read", T::NAME.to_string_lossy()));
                std::ptr::null_mut()
            }
        }
    })
}

unsafe extern "C" fn save<T: DataType>(to: *mut raw::RedisModuleIO, value: *mut c_void) {
    // SAFETY: the server's pointers, to what it writes to and to a value of this type.
    let (mut writer, value) = unsafe { (Writer::new(to), behind::<T>(value)) };
    guarded((), || value.get().write(&mut writer));
}

unsafe extern "C" fn rewrite<T: DataType>(
    to: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
    value: *mut c_void,
) {
    // SAFETY: the server's pointers, to what it writes to, to the key, and to a value of this type.
    let (mut commands, value) = unsafe { (Commands::new(to, key), behind::<T>(value)) };
    guarded((), || value.get().rewrite(&mut commands));
}

unsafe extern "C" fn digest<T: DataType>(to: *mut raw::RedisModuleDigest, value: *mut c_void) {
    // SAFETY: the server's pointers, to a digest and to a value of this type.
    let (mut digest, value) = unsafe { (Digest::new(to), behind::<T>(value)) };
    guarded((), || value.get().digest(&mut digest));
}

unsafe extern "C" fn bytes_of<T: DataType>(value: *const c_void) -> usize {
    // SAFETY: the server's pointer to a value of this type.
    unsafe { behind::<T>(value) }.bytes
}

unsafe extern "C" fn free_effort<T: DataType>(_key: *mut raw::RedisModuleString, value: *const c_void) -> usize {
    // SAFETY: the server's pointer to a value of this type.
    let bytes = unsafe { behind::<T>(value) }.bytes;
    // 0 is an effort beyond all bounds.
    usize::from(bytes < LAZY_FROM)
}

unsafe extern "C" fn free<T: DataType>(value: *mut c_void) {
    // SAFETY: the server's pointer to a value of this type, which it gives up.
    let value = unsafe { Box::from_raw(value.cast::<Value<T>>()) };
    // Where the server makes room it looks at what each key gave back.
    let is_beside = is_servers_thread() && defaults::is_long(value.bytes) && !is_full();
    guarded((), move || match is_beside {
        true => drop(do_beside(move || drop(value))),
        false => drop(value),
    });
}

unsafe extern "C" fn copy<T: DataType>(
    _from: *mut raw::RedisModuleString,
    _to: *mut raw::RedisModuleString,
    value: *const c_void,
) -> *mut c_void {
    // SAFETY: the server's pointer to a value of this type.
    let value = unsafe { behind::<T>(value) };
    guarded(std::ptr::null_mut(), || Box::into_raw(value.share()).cast())
}
