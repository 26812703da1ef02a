//! Types of values: what the server needs of a type, and the functions that the server calls.

use super::beside::{Busy, do_beside, is_servers_thread};
use super::defaults;
use super::memory::{is_full, measured};
use super::mover::Mover;
use super::persistence::{Commands, Digest, Reader, Unreadable, Writer};
use super::shared::Shared;
use super::{Context, Refusal, api};
use redis_module::raw;
use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// The least size in bytes of a value that another thread frees when the server frees lazily.
const LAZY_FROM: usize = 64 << 10;

/// How long a change waits before it checks again whether the value is still lent.
const MOMENT: Duration = Duration::from_micros(100);

/// A type of values.
pub trait DataType: Sized + Send + Sync + 'static {
    /// How the module learns the memory size of a value.
    type Memory: Memory<Self>;

    /// The nine letters that name the type in RDB files.
    const NAME: &'static CStr;
    /// The version of the bytes that `write` writes.
    const VERSION: c_int;

    /// Where the server's handle of the type is kept.
    fn handle() -> &'static AtomicPtr<raw::RedisModuleType>;

    /// Why a value of another module type is refused.
    fn refusal_of(_other: *mut raw::RedisModuleType) -> Refusal {
        Refusal::WrongType
    }

    /// Reads a value that `write` wrote.
    fn read(from: &mut Reader) -> Result<Self, Unreadable>;

    /// Writes a value.
    fn write(&self, to: &mut Writer);

    /// Writes the commands that make the value.
    fn rewrite(&self, to: &mut Commands);

    /// Writes the same bytes to the digest for equal values, and different bytes for different values.
    fn digest(&self, to: &mut Digest);

    /// A copy of the value, with its own memory.
    fn copy(&self) -> petal::Result<Self>;

    /// Lets the server move the value's memory, so that fewer gaps are left.
    fn move_memory(&mut self, mover: &Mover);

    /// The server's handle of the type.
    fn registered() -> *mut raw::RedisModuleType {
        Self::handle().load(Ordering::Relaxed)
    }
}

/// How the module learns the memory size of a value: [`Given`] or [`Asked`].
pub trait Memory<T>: Copy + Default + Send + 'static {
    /// Calls a function that makes or changes a value.
    fn follow<R>(&mut self, call: impl FnOnce() -> R) -> R;

    /// How many bytes of memory the value has.
    fn bytes(&self, value: &T) -> usize;
}

/// The bytes that the allocator gave for a value, measured whenever the value changes.
#[derive(Clone, Copy, Default)]
pub struct Given(usize);

impl<T> Memory<T> for Given {
    fn follow<R>(&mut self, call: impl FnOnce() -> R) -> R {
        let (result, more) = measured(call);
        self.0 = self.0.saturating_add_signed(more);
        result
    }

    fn bytes(&self, _: &T) -> usize {
        self.0
    }
}

/// The bytes that the value asked the allocator for. The value itself knows the number, so nothing is measured or
/// stored.
#[derive(Clone, Copy, Default)]
pub struct Asked;

/// A value that knows how many bytes it asked the allocator for.
pub trait KnowsMemory: DataType {
    /// How many bytes the value asked the allocator for, besides the value's own bytes.
    fn asked_for(&self) -> usize;
}

impl<T: KnowsMemory<Memory = Asked>> Memory<T> for Asked {
    fn follow<R>(&mut self, call: impl FnOnce() -> R) -> R {
        call()
    }

    fn bytes(&self, value: &T) -> usize {
        size_of::<Value<T>>() + Shared::<T>::BYTES + value.asked_for()
    }
}

/// A value, and its memory size.
pub struct Value<T: DataType> {
    value: Shared<T>,
    memory: T::Memory,
    /// Only values that were copied, or lent to work outside the server's thread, have this field.
    extra: OnceCell<Box<Extra<T>>>,
}

struct Extra<T: DataType> {
    /// A token that each key with this same value holds: the keys to which a key was copied and that are unchanged
    /// since.
    holders: Arc<()>,
    /// A separate value for a key that shares this one, once the module's thread has made it.
    own: Own<T>,
    /// The work that makes the separate value, while the work runs.
    making: RefCell<Weak<Busy>>,
    /// The work outside the server's thread to which the value is lent.
    busy: RefCell<Vec<Weak<Busy>>>,
    /// A number that changes whenever the value does. If two looks at a key find the same stamp, the value is
    /// unchanged.
    stamp: Cell<u64>,
}

type Own<T> = Arc<Mutex<Option<Box<Value<T>>>>>;

impl<T: DataType> Extra<T> {
    fn new(holders: Arc<()>) -> Box<Extra<T>> {
        Box::new(Extra {
            holders,
            own: Own::default(),
            making: RefCell::default(),
            busy: RefCell::default(),
            stamp: Cell::new(stamp()),
        })
    }
}

impl<T: DataType> Value<T> {
    /// The value that `make` makes, with the memory that making took.
    ///
    /// # Errors
    /// The errors of `make`.
    pub fn make<E>(make: impl FnOnce() -> Result<T, E>) -> Result<Box<Value<T>>, E> {
        let mut memory = T::Memory::default();
        let made = memory.follow(|| {
            let memory = T::Memory::default();
            make().map(|value| Box::new(Value { value: Shared::new(value), memory, extra: OnceCell::new() }))
        });
        let mut made = made?;
        made.memory = memory;
        Ok(made)
    }

    /// Changes the value, which no other key shares, and updates the memory size. If the value is lent, the change
    /// waits until the work has ended.
    fn change<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        while self.value.holders() > 1 {
            std::thread::sleep(MOMENT);
        }
        if let Some(extra) = self.extra.get() {
            extra.stamp.set(stamp());
        }
        // Only this thread lends values, so no new holder can appear.
        let value = self.value.get_mut().unwrap_or_else(|| unreachable!("a value that nobody else has"));
        self.memory.follow(|| change(value))
    }

    fn extra(&self) -> &Extra<T> {
        self.extra.get_or_init(|| Extra::new(Arc::default()))
    }

    /// This value for another key, without a copy in memory. When one of the two keys is to change, that key first gets
    /// its own copy.
    fn share(&self) -> Box<Value<T>> {
        let extra = OnceCell::from(Extra::new(Arc::clone(&self.extra().holders)));
        Box::new(Value { value: self.value.clone(), memory: self.memory, extra })
    }

    /// Whether other keys have this same value.
    fn is_shared(&self) -> bool {
        self.extra.get().is_some_and(|extra| Arc::strong_count(&extra.holders) > 1)
    }

    /// The value.
    pub fn get(&self) -> &T {
        &self.value
    }

    /// How many bytes of memory the value has. For a shared value: how many bytes its own copy will have.
    pub fn bytes(&self) -> usize {
        self.memory.bytes(&self.value)
    }

    /// Lends the value to work outside the server's thread. The value counts as `busy` until the work ends.
    pub fn lend(&self, busy: &Arc<Busy>) -> Shared<T> {
        let mut all = self.extra().busy.borrow_mut();
        all.retain(|busy| busy.strong_count() > 0);
        all.push(Arc::downgrade(busy));
        self.value.clone()
    }

    /// The value's stamp. A value that was neither copied nor lent has no stamp, because no work has looked at the
    /// value.
    pub fn stamp(&self) -> Option<u64> {
        self.extra.get().map(|extra| extra.stamp.get())
    }

    /// Some work to which the value is lent.
    fn busy(&self) -> Option<Arc<Busy>> {
        self.extra.get()?.busy.borrow().iter().find_map(Weak::upgrade)
    }
}

/// A value that may be changed: no work outside the server's thread reads the value, and no other key has it.
pub struct Changing<'k, T: DataType>(&'k mut Value<T>);

impl<T: DataType> Changing<'_, T> {
    /// The value.
    pub fn get(&self) -> &T {
        self.0.get()
    }

    /// Changes the value.
    pub fn change<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        self.0.change(change)
    }
}

impl<T: DataType> Value<T> {
    /// Makes the value ready for a change.
    ///
    /// # Errors
    /// [`Refusal::Later`] while work outside the server's thread reads the value, or copies a value that other keys
    /// share; [`petal::Status::OutOfMemory`].
    pub fn to_change(&mut self, context: &Context) -> Result<Changing<'_, T>, Refusal> {
        // Most values were never copied or lent.
        if let Some(extra) = self.extra.get() {
            let made = extra.own.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
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
        }
        Ok(Changing(self))
    }

    /// Checks that the value may be replaced.
    ///
    /// # Errors
    /// [`Refusal::Later`] while work outside the server's thread reads the value.
    pub fn check_free(&self, context: &Context) -> Result<(), Refusal> {
        self.busy().filter(|_| context.can_wait()).map_or(Ok(()), |busy| Err(Refusal::Later(busy)))
    }

    /// Starts a copy of a shared value in the module's thread, and returns the mark of that work. Returns `None` if the
    /// caller has to copy: the copy is short, the client cannot wait, or no thread is left.
    fn make_own(&self, context: &Context) -> Option<Arc<Busy>> {
        if !defaults::is_long(self.bytes()) || !context.can_wait() {
            return None;
        }
        let extra = self.extra();
        if let Some(busy) = extra.making.borrow().upgrade() {
            return Some(busy);
        }
        let busy = Arc::default();
        let (value, own, until) = (self.value.clone(), Arc::clone(&extra.own), Arc::clone(&busy));
        let is_begun = do_beside(move || {
            // Without memory for a copy, `made` is `None`. The waiting command then tries the copy again and reports
            // the error.
            let made = Value::make(|| value.copy()).ok();
            drop(value);
            *own.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = made;
            drop(until);
        });
        extra.making.replace(Arc::downgrade(&busy));
        is_begun.then_some(busy)
    }

    /// Replaces the shared value by a copy of the same value, which keeps the stamp.
    fn take_over(&mut self, made: Box<Value<T>>) {
        let stamp = self.stamp();
        self.replace(made);
        if let Some(stamp) = stamp {
            self.extra().stamp.set(stamp);
        }
    }

    /// Replaces this value by another one. The module's thread frees the old value if that takes long.
    pub fn replace(&mut self, other: Box<Value<T>>) {
        let old = std::mem::replace(self, *other);
        if defaults::is_long(old.bytes()) {
            do_beside(move || drop(old));
        }
    }
}

/// A number that no value has had before.
fn stamp() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Makes the type known to the server.
///
/// # Errors
/// Why the server refuses the type.
pub fn register<T: DataType>(context: &Context) -> Result<(), String> {
    let mut methods = raw::RedisModuleTypeMethods {
        // The version of these methods in Redis 6.2.
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
        defrag: Some(move_memory::<T>),
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

/// Runs `call`. If `call` panics, the panic stops here, and the result is `otherwise`.
fn guarded<R>(otherwise: R, call: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(otherwise)
}

/// The value behind the server's pointer.
///
/// # Safety
/// `value` came from [`load`], [`copy`] or `Key::set` of this type and is not freed; nobody changes it meanwhile.
unsafe fn behind<'a, T: DataType>(value: *const c_void) -> &'a Value<T> {
    // SAFETY: `value` points to a live `Value<T>`, and nobody changes it during the borrow (this function's contract).
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
    // SAFETY: the server's pointers, to its file and to a value of this type.
    let (mut writer, value) = unsafe { (Writer::new(to), behind::<T>(value)) };
    guarded((), || value.get().write(&mut writer));
}

unsafe extern "C" fn rewrite<T: DataType>(
    to: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
    value: *mut c_void,
) {
    // SAFETY: the server's pointers, to its file, to the key, and to a value of this type.
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
    unsafe { behind::<T>(value) }.bytes()
}

unsafe extern "C" fn free_effort<T: DataType>(_key: *mut raw::RedisModuleString, value: *const c_void) -> usize {
    // SAFETY: the server's pointer to a value of this type.
    let bytes = unsafe { behind::<T>(value) }.bytes();
    // The server frees a value immediately if the effort is 1, and lazily if the effort is 0 (unbounded). A server that
    // evicts keys needs the memory immediately: memory that another thread frees comes too late, and the server evicts
    // more keys meanwhile.
    usize::from(bytes < LAZY_FROM || is_full())
}

unsafe extern "C" fn free<T: DataType>(value: *mut c_void) {
    // SAFETY: the server's pointer to a value of this type. The server gives up the value.
    let value = unsafe { Box::from_raw(value.cast::<Value<T>>()) };
    // A server that evicts keys measures how much memory each key gave back.
    let is_beside = is_servers_thread() && defaults::is_long(value.bytes()) && !is_full();
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

unsafe extern "C" fn move_memory<T: DataType>(
    context: *mut raw::RedisModuleDefragCtx,
    _key: *mut raw::RedisModuleString,
    value: *mut *mut c_void,
) -> c_int {
    let mover = Mover(context);
    // SAFETY: the address of the server's pointer to a value of this type. Nobody else has the value now.
    unsafe {
        let Some(block) = NonNull::new((*value).cast::<Value<T>>()) else { return 0 };
        let mut block = mover.moved(block);
        *value = block.as_ptr().cast();
        let value = block.as_mut();
        guarded((), || {
            value.value.move_memory(&mover);
            if let Some(own) = value.value.get_mut() {
                own.move_memory(&mover);
            }
        });
    }
    0
}
