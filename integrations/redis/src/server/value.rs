//! Types of values: what the server needs of one, and the functions through which it asks.

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

/// From this size on a value is freed by another thread when the server frees lazily.
const LAZY_FROM: usize = 64 << 10;

/// How long a change waits before it looks again whether the value is lent still.
const MOMENT: Duration = Duration::from_micros(100);

/// A type of values.
pub trait DataType: Sized + Send + Sync + 'static {
    /// How the memory of a value becomes known.
    type Memory: Memory<Self>;

    /// Nine letters that RDB files know it by.
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

    /// Gives the server what is equal in two values exactly if the values are equal.
    fn digest(&self, to: &mut Digest);

    /// A copy of the value, with memory of its own.
    fn copy(&self) -> petal::Result<Self>;

    /// Has the value's memory moved to where it leaves fewer gaps.
    fn move_memory(&mut self, mover: &Mover);

    /// The server's handle of the type.
    fn registered() -> *mut raw::RedisModuleType {
        Self::handle().load(Ordering::Relaxed)
    }
}

/// How the memory of a value becomes known: [`Given`] or [`Asked`].
pub trait Memory<T>: Copy + Default + Send + 'static {
    /// Calls what makes or changes a value.
    fn follow<R>(&mut self, call: impl FnOnce() -> R) -> R;

    /// How many bytes the value has.
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

/// The bytes that were asked for, which the value itself knows: nothing is measured, and a value keeps no number.
#[derive(Clone, Copy, Default)]
pub struct Asked;

/// A value that knows how many bytes it asked the allocator for.
pub trait KnowsMemory: DataType {
    /// How many bytes the value asked the allocator for, beside its own.
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

/// A value, and the memory that it has.
pub struct Value<T: DataType> {
    value: Shared<T>,
    memory: T::Memory,
    /// Only values that were copied, or were lent for work beside the server's thread, have this.
    extra: OnceCell<Box<Extra<T>>>,
}

struct Extra<T: DataType> {
    /// One for each key that has this very value: those that a key was copied to and that have not changed since.
    holders: Arc<()>,
    /// A value of its own for a key that shares one, once it is made beside the server's thread.
    own: Own<T>,
    /// While the own value is being made, the work that makes it.
    making: RefCell<Weak<Busy>>,
    /// The works beside the server's thread to which the value is lent.
    busy: RefCell<Vec<Weak<Busy>>>,
    /// Changes whenever the value does: where two looks at a key find the same stamp, nothing has changed.
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

    /// Changes the value, which nobody shares, and finds out what memory it then has. Where it is lent, waits until it
    /// is looked at no more.
    fn change<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        while self.value.holders() > 1 {
            std::thread::sleep(MOMENT);
        }
        if let Some(extra) = self.extra.get() {
            extra.stamp.set(stamp());
        }
        // Only this thread lends values, so no new holder can come.
        let value = self.value.get_mut().unwrap_or_else(|| unreachable!("a value that nobody else has"));
        self.memory.follow(|| change(value))
    }

    fn extra(&self) -> &Extra<T> {
        self.extra.get_or_init(|| Extra::new(Arc::default()))
    }

    /// This value for another key too, without memory for a copy. Of the two keys that one gets a copy of its own,
    /// before it changes, which is to be changed first.
    fn share(&self) -> Box<Value<T>> {
        let extra = OnceCell::from(Extra::new(Arc::clone(&self.extra().holders)));
        Box::new(Value { value: self.value.clone(), memory: self.memory, extra })
    }

    /// Whether other keys have this very value.
    fn is_shared(&self) -> bool {
        self.extra.get().is_some_and(|extra| Arc::strong_count(&extra.holders) > 1)
    }

    /// The value.
    pub fn get(&self) -> &T {
        &self.value
    }

    /// How many bytes of memory the value has, or will have of its own once it changes.
    pub fn bytes(&self) -> usize {
        self.memory.bytes(&self.value)
    }

    /// The value for work beside the server's thread, until whose end it is `busy`.
    pub fn lend(&self, busy: &Arc<Busy>) -> Shared<T> {
        let mut all = self.extra().busy.borrow_mut();
        all.retain(|busy| busy.strong_count() > 0);
        all.push(Arc::downgrade(busy));
        self.value.clone()
    }

    /// The value's stamp. A value that was never lent needs none: nobody has looked at it.
    pub fn stamp(&self) -> Option<u64> {
        self.extra.get().map(|extra| extra.stamp.get())
    }

    /// Some work to which the value is lent.
    fn busy(&self) -> Option<Arc<Busy>> {
        self.extra.get()?.busy.borrow().iter().find_map(Weak::upgrade)
    }
}

/// A value that may be changed: no work beside the server's thread needs it as it is, and no other key has it.
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
    /// The value to be changed.
    ///
    /// # Errors
    /// [`Refusal::Later`] while work beside the server's thread needs it as it is, or makes it a value of its own where
    /// other keys have it as well; [`petal::Status::OutOfMemory`].
    pub fn to_change(&mut self, context: &Context) -> Result<Changing<'_, T>, Refusal> {
        // Most values were never copied, nor lent.
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
    /// [`Refusal::Later`] while work beside the server's thread needs it.
    pub fn check_free(&self, context: &Context) -> Result<(), Refusal> {
        self.busy().filter(|_| context.can_wait()).map_or(Ok(()), |busy| Err(Refusal::Later(busy)))
    }

    /// Has a value of its own made for this key, beside the server's thread: what that is then busy with. `None` where
    /// it is made as fast here, or has to be.
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
            // Without memory for a copy `made` is `None`, and the command that waits reports it.
            let made = Value::make(|| value.copy()).ok();
            drop(value);
            *own.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = made;
            drop(until);
        });
        extra.making.replace(Arc::downgrade(&busy));
        is_begun.then_some(busy)
    }

    /// Takes a copy of the same value in place of the shared one.
    fn take_over(&mut self, made: Box<Value<T>>) {
        let stamp = self.stamp();
        self.replace(made);
        if let Some(stamp) = stamp {
            self.extra().stamp.set(stamp);
        }
    }

    /// Puts another value into the place of this one, whose memory goes beside the server's thread: that takes long
    /// where it is much.
    pub fn replace(&mut self, other: Box<Value<T>>) {
        let old = std::mem::replace(self, *other);
        if defaults::is_long(old.bytes()) {
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
/// Why the server refuses the type.
pub fn register<T: DataType>(context: &Context) -> Result<(), String> {
    let mut methods = raw::RedisModuleTypeMethods {
        // The version of these methods that Redis 6.2 has.
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

/// Runs `call`; a panic does not unwind into the server, but gives `otherwise`.
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
    unsafe { behind::<T>(value) }.bytes()
}

unsafe extern "C" fn free_effort<T: DataType>(_key: *mut raw::RedisModuleString, value: *const c_void) -> usize {
    // SAFETY: the server's pointer to a value of this type.
    let bytes = unsafe { behind::<T>(value) }.bytes();
    // 0 is an effort beyond all bounds. A server that makes room has the value freed at once: what another thread gives
    // back comes too late, and the server takes other keys meanwhile.
    usize::from(bytes < LAZY_FROM || is_full())
}

unsafe extern "C" fn free<T: DataType>(value: *mut c_void) {
    // SAFETY: the server's pointer to a value of this type, which it gives up.
    let value = unsafe { Box::from_raw(value.cast::<Value<T>>()) };
    // Where the server makes room it looks at what each key gave back.
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
    // SAFETY: the server's pointer to where it keeps its pointer to a value of this type, which nobody else has now.
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
