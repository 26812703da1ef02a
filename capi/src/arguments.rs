// What a C function was given, as Rust has it. A word before an argument of `boundary!` turns the pointer into one of
// these, and has the one proof that the pointer needs; so bodies are safe code.
//
// The proofs rest on the conventions of petal.h, which are the caller's part: a pointer that is not NULL points to what
// its type and the function's comment say, for as long as the call takes; a handle lives; nobody changes what the call
// reads, and nobody else uses what it changes.

use crate::handle::{self, Owner};
use crate::reading::{self, SizedStruct};
use petal_core::{Error, Image, Result, Status};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Turns the pointer arguments of a function into what its body uses, under the same names. A pointer without a word
/// before it is only checked not to be NULL.
///
/// | words | what the body gets |
/// |---|---|
/// | `read handle` | `&Value` |
/// | `change handle` | [`Changing`] |
/// | `pair(handle, other)` | [`Pair`], a handle that is to be changed by another one, or by itself |
/// | `give handle` | [`Give`], for a handle that the function makes |
/// | `out value`, `maybe value` | [`Out`]; with `maybe` NULL is allowed, and takes nothing |
/// | `update value` | `&mut T`, to be read and written |
/// | `optional value` | `Option<T>`, a copy; NULL is `None` |
/// | `given options` | what the struct says, see [`Given`] |
/// | `fill statistics` | [`Fill`], for a struct of its size |
/// | `bytes(key, length)` | `&[u8]` |
/// | `elements(array, count)` | `&[T]` |
/// | `room(array, count)` | `&mut [T]`, to be written |
/// | `room_bytes(buffer, length)` | `&mut [u8]` of memory that C calls void, to be written |
/// | `callback(write, context)` | [`Callback`], a function of the caller that takes bytes |
/// | `path file` | `&Path` |
/// | `name text` | `&str` |
/// | `handles(array, count)` | `&[&H]`, handles that may be poisoned |
/// | `pointers(array, count)` | `&[NonNull<T>]` |
/// | `keys(keys)` | `&Keys` |
/// | `answers(answers, count)` | `Answering`, the answers of a lookup |
/// | `keys(keys, answers)` | both, with room for an answer a key |
/// | `maybe` before `name` and what has a count | an `Option` of what the word gives; NULL is `None` |
macro_rules! arguments {
    () => {};
    (read $pointer:ident $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions it is NULL or a handle that lives and that nobody changes during the call.
        let $pointer = unsafe { crate::arguments::read($pointer, stringify!($pointer)) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (change $pointer:ident $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions it is NULL or a handle that lives and that nobody else uses during the call.
        let $pointer = unsafe { crate::arguments::Changing::new($pointer, stringify!($pointer)) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (pair($pointer:ident, $other:ident) $(, $($rest:tt)*)?) => {
        let names = [stringify!($pointer), stringify!($other)];
        // SAFETY: by the conventions each is NULL or a handle that lives; during the call nobody else uses the first,
        // and nobody changes the other.
        let $pointer = unsafe { crate::arguments::Pair::new($pointer, $other, names) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (give $pointer:ident $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions it is NULL or writable.
        let $pointer = unsafe { crate::arguments::Give::new($pointer, stringify!($pointer)) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (out $pointer:ident $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions it is NULL or writable.
        let $pointer = unsafe { crate::arguments::Out::new($pointer, stringify!($pointer)) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (maybe $pointer:ident $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions it is NULL or writable.
        let $pointer = unsafe { crate::arguments::Out::maybe($pointer) };
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (update $pointer:ident $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions it is NULL or readable and writable, and nobody else uses it during the call.
        let $pointer = unsafe { crate::arguments::update($pointer, stringify!($pointer)) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (optional $pointer:ident $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions it is NULL or readable.
        let $pointer = unsafe { $pointer.as_ref() }.copied();
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (given $pointer:ident $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions it is NULL or a struct with as many bytes as its `struct_size` says.
        let $pointer = unsafe { crate::arguments::given($pointer, stringify!($pointer)) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (fill $pointer:ident $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions it is NULL or a writable struct with as many bytes as its `struct_size` says.
        let $pointer = unsafe { crate::arguments::Fill::new($pointer, stringify!($pointer)) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (bytes($pointer:ident, $length:expr) $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions that many bytes are readable there during the call.
        let $pointer = unsafe { crate::reading::bytes($pointer.cast(), $length, stringify!($pointer)) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (elements($pointer:ident, $count:expr) $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions that many elements are readable there during the call.
        let $pointer = unsafe { crate::reading::elements($pointer, $count, stringify!($pointer)) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (room($pointer:ident, $count:expr) $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions that many elements are writable there, and nobody else uses them during the call.
        let $pointer = unsafe { crate::reading::elements_mut($pointer, $count, stringify!($pointer)) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (room_bytes($pointer:ident, $length:expr) $(, $($rest:tt)*)?) => {
        let $pointer = $pointer.cast::<u8>();
        crate::arguments::arguments!(room($pointer, $length) $(, $($rest)*)?);
    };
    (callback($function:ident, $context:ident) $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions it is NULL or a function that may be called with this context during the call.
        let mut $function = unsafe { crate::arguments::Callback::new($function, $context, stringify!($function)) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (path $pointer:ident $(, $($rest:tt)*)?) => {
        crate::arguments::arguments!($pointer);
        // SAFETY: it is not NULL, and by the conventions it ends with a NUL.
        let $pointer = unsafe { crate::reading::read_path($pointer) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (name $pointer:ident $(, $($rest:tt)*)?) => {
        crate::arguments::arguments!($pointer);
        // SAFETY: it is not NULL, and by the conventions it ends with a NUL.
        let $pointer = unsafe { crate::reading::name($pointer) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (maybe name $pointer:ident $(, $($rest:tt)*)?) => {
        let $pointer = if $pointer.is_null() {
            None
        } else {
            crate::arguments::arguments!(name $pointer);
            Some($pointer)
        };
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (maybe $word:ident($pointer:ident, $count:expr) $(, $($rest:tt)*)?) => {
        let $pointer = if $pointer.is_null() {
            None
        } else {
            crate::arguments::arguments!($word($pointer, $count));
            Some($pointer)
        };
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (handles($array:ident, $count:expr) $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions that many pointers are readable there, each NULL or a handle that lives and that
        // nobody changes during the call.
        let $array = unsafe { crate::arguments::handles($array, $count, stringify!($array)) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (pointers($array:ident, $count:expr) $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions that many pointers are readable there during the call.
        let $array = unsafe { crate::arguments::pointers($array, $count, stringify!($array)) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (keys($keys:ident) $(, $($rest:tt)*)?) => {
        crate::arguments::arguments!($keys);
        // SAFETY: it is not NULL, and by the conventions a struct with arrays as long as it says.
        let $keys = &unsafe { crate::arguments::Lists::said($keys) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    (keys($keys:ident, $answers:ident) $(, $($rest:tt)*)?) => {
        crate::arguments::arguments!($keys, $answers, keys($keys), answers($answers, $keys.len()) $(, $($rest)*)?);
    };
    (answers($answers:ident, $count:expr) $(, $($rest:tt)*)?) => {
        // SAFETY: by the conventions it is NULL or a struct with room for that many answers, which nobody else uses
        // during the call.
        let $answers = unsafe { crate::arguments::Room::of($answers, $count) }?;
        $(crate::arguments::arguments!($($rest)*);)?
    };
    ($pointer:ident $(, $($rest:tt)*)?) => {
        if $pointer.is_null() {
            return Err(crate::reading::null(stringify!($pointer)));
        }
        $(crate::arguments::arguments!($($rest)*);)?
    };
}
pub(crate) use arguments;

/// # Safety
/// `pointer` is NULL or a handle that lives and that nobody changes during the call.
pub(crate) unsafe fn read<'a, H: Owner + 'a>(pointer: *const H, name: &str) -> Result<&'a H::Value> {
    // SAFETY: NULL or a handle that nobody changes, as the safety section asks.
    unsafe { pointer.as_ref() }.ok_or_else(|| reading::null(name))?.value()
}

/// Pointers none of which is NULL.
///
/// # Safety
/// `count` pointers are readable during the call.
#[inline(never)]
pub(crate) unsafe fn pointers<'a, T>(array: *const *const T, count: usize, name: &str) -> Result<&'a [NonNull<T>]> {
    // SAFETY: as many pointers are readable, as the safety section asks.
    let pointers = unsafe { reading::elements(array, count, name) }?;
    if let Some(i) = pointers.iter().position(|pointer| pointer.is_null()) {
        return Err(reading::error(Status::NullPointer, format_args!("{name}[{i}] is NULL")));
    }
    // SAFETY: a `NonNull` is a pointer that is not NULL.
    Ok(unsafe { std::slice::from_raw_parts(pointers.as_ptr().cast(), count) })
}

/// # Safety
/// `count` pointers are readable, each NULL or a handle that lives and that nobody changes during the call.
pub(crate) unsafe fn handles<'a, H>(array: *const *const H, count: usize, name: &str) -> Result<&'a [&'a H]> {
    // SAFETY: as many pointers are readable, as the safety section asks.
    let handles = unsafe { pointers(array, count, name) }?;
    // SAFETY: a reference is a pointer that is not NULL, to a handle that nobody changes, as the safety section asks.
    Ok(unsafe { std::slice::from_raw_parts(handles.as_ptr().cast(), count) })
}

/// # Safety
/// `pointer` is NULL or readable and writable, and nobody else uses it during the call.
pub(crate) unsafe fn update<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T> {
    // SAFETY: NULL, or readable, writable and nobody else's, as the safety section asks.
    unsafe { pointer.as_mut() }.ok_or_else(|| reading::null(name))
}

/// A handle that is to be changed.
pub(crate) struct Changing<'a, H>(&'a mut H);

impl<'a, H: Owner + 'a> Changing<'a, H> {
    /// # Safety
    /// `pointer` is NULL or a handle that lives and that nobody else uses during the call.
    pub(crate) unsafe fn new(pointer: *mut H, name: &str) -> Result<Self> {
        // SAFETY: NULL or a handle that nobody else uses, as the safety section asks.
        unsafe { pointer.as_mut() }.map(Changing).ok_or_else(|| reading::null(name))
    }

    /// Changes the value by a function that cannot fail.
    pub(crate) fn always<R>(self, change: impl FnOnce(&mut H::Value) -> R) -> Result<R> {
        self.0.change(change)
    }

    /// Changes the value by a function that can fail.
    pub(crate) fn by<R>(self, change: impl FnOnce(&mut H::Value) -> Result<R>) -> Result<R> {
        self.0.change(change)?
    }

    /// Makes bytes, which the handle keeps until its next call, and tells where they are.
    pub(crate) fn lend(
        self,
        bytes: Out<*const c_void>,
        length: Out<usize>,
        make: impl FnOnce(&mut H::Value) -> Result<&[u8]>,
    ) -> Result<()> {
        let (start, count) = self.by(|value| make(value).map(|made| (made.as_ptr(), made.len())))?;
        bytes.set(start.cast());
        length.set(count);
        Ok(())
    }
}

/// A handle that is to be changed by another one, or by itself.
pub(crate) struct Pair<'a, H> {
    changing: Changing<'a, H>,
    /// `None` is the handle itself.
    other: Option<&'a H>,
}

impl<H: Owner<Value: Image>> Pair<'_, H> {
    /// # Safety
    /// Each pointer is NULL or a handle that lives. During the call nobody else uses the first, and nobody changes the
    /// other.
    pub(crate) unsafe fn new(pointer: *mut H, other: *const H, names: [&str; 2]) -> Result<Self> {
        // SAFETY: NULL or a handle that nobody else uses, as the safety section asks.
        let changing = unsafe { Changing::new(pointer, names[0]) }?;
        if other.is_null() {
            return Err(reading::null(names[1]));
        }
        // SAFETY: not NULL, and a handle that nobody changes, as the safety section asks: it is not the first.
        let other = (!std::ptr::eq(pointer, other)).then(|| unsafe { &*other });
        Ok(Pair { changing, other })
    }

    /// Changes the value by the other one, or by a copy of itself.
    pub(crate) fn by(self, change: impl FnOnce(&mut H::Value, &H::Value) -> Result<()>) -> Result<()> {
        let copy;
        let other = match self.other {
            Some(other) => other.value()?,
            None => {
                copy = self.changing.0.value()?.copy()?;
                &copy
            }
        };
        self.changing.by(|value| change(value, other))
    }
}

/// Where a new handle goes.
pub(crate) struct Give<'a, H> {
    to: *mut *mut H,
    call: PhantomData<&'a mut *mut H>,
}

impl<H: Owner> Give<'_, H> {
    /// # Safety
    /// `to` is NULL or writable during the call.
    pub(crate) unsafe fn new(to: *mut *mut H, name: &str) -> Result<Self> {
        if to.is_null() { Err(reading::null(name)) } else { Ok(Give { to, call: PhantomData }) }
    }

    /// Hands the value that `make` makes to the caller. The handle's memory comes first, so that nothing that was made
    /// is lost for the lack of it.
    pub(crate) fn made(self, make: impl FnOnce() -> Result<H::Value>) -> Result<()> {
        // SAFETY: `to` is not NULL and writable during the call, as `new` was promised.
        unsafe { handle::give(self.to, || Ok(H::new(make()?)), H::placed) }
    }
}

/// Where an answer goes, if the caller wants it.
pub(crate) struct Out<'a, T> {
    to: *mut T,
    call: PhantomData<&'a mut T>,
}

impl<T> Out<'_, T> {
    /// # Safety
    /// `to` is NULL or writable during the call.
    pub(crate) unsafe fn new(to: *mut T, name: &str) -> Result<Self> {
        if to.is_null() { Err(reading::null(name)) } else { Ok(Out { to, call: PhantomData }) }
    }

    /// # Safety
    /// As [`Out::new`].
    pub(crate) unsafe fn maybe(to: *mut T) -> Self {
        Out { to, call: PhantomData }
    }

    /// Writes the answer.
    pub(crate) fn set(self, value: T) {
        if !self.to.is_null() {
            // SAFETY: not NULL, and writable during the call, as `new` and `maybe` were promised.
            unsafe { self.to.write(value) };
        }
    }

    /// Writes the answer, if there is one.
    pub(crate) fn answer(self, value: Result<T>) -> Result<()> {
        value.map(|value| self.set(value))
    }
}

/// Lists what there is: as much as there are places for, and how much it is.
pub(crate) fn list<T>(all: impl ExactSizeIterator<Item = T>, places: &mut [T], count: Out<usize>) {
    count.set(all.len());
    places.iter_mut().zip(all).for_each(|(place, one)| *place = one);
}

/// A struct that the caller fills in, and what it says.
pub(crate) trait Given: SizedStruct {
    /// What it says.
    type Said;

    /// What it says; `None` is NULL, and `name` is that of the argument.
    fn said(given: Option<Self>, name: &str) -> Result<Self::Said>;
}

/// # Safety
/// `pointer` is NULL or points to a struct with as many bytes as its `struct_size` says.
#[inline(never)]
pub(crate) unsafe fn given<T: Given>(pointer: *const T, name: &str) -> Result<T::Said> {
    // SAFETY: NULL or a struct of its size, as the safety section asks.
    T::said(unsafe { reading::read_optional(pointer) }?, name)
}

/// A struct of its size that the library fills in.
pub(crate) struct Fill<'a, T> {
    to: *mut T,
    call: PhantomData<&'a mut T>,
}

impl<T: SizedStruct> Fill<'_, T> {
    /// # Safety
    /// `to` is NULL or points to a struct with as many writable bytes as its `struct_size` says.
    #[inline(never)]
    pub(crate) unsafe fn new(to: *mut T, name: &str) -> Result<Self> {
        if to.is_null() {
            return Err(reading::null(name));
        }
        // SAFETY: not NULL, and a struct of its size, as the safety section asks.
        unsafe { reading::check_out(to) }?;
        Ok(Fill { to, call: PhantomData })
    }

    /// What the caller has filled in.
    pub(crate) fn get(&self) -> Result<T> {
        // SAFETY: not NULL, and a struct of its size, as `new` was promised.
        unsafe { reading::read(self.to) }
    }

    /// Fills in the fields that the caller's version has.
    pub(crate) fn set(self, value: T) {
        // SAFETY: `new` has checked its size.
        unsafe { reading::write(self.to, value) };
    }
}

/// What a function of the caller that takes bytes looks like.
type Write = unsafe extern "C" fn(context: *mut c_void, bytes: *const c_void, length: usize) -> bool;

/// A function of the caller that takes bytes, piece by piece.
pub(crate) struct Callback<'a> {
    function: Write,
    context: *mut c_void,
    call: PhantomData<&'a mut c_void>,
}

impl Callback<'_> {
    /// # Safety
    /// `function` is NULL or may be called with `context`, and any bytes, during the call.
    #[inline(never)]
    pub(crate) unsafe fn new(function: Option<Write>, context: *mut c_void, name: &str) -> Result<Self> {
        let function = function.ok_or_else(|| reading::null(name))?;
        Ok(Callback { function, context, call: PhantomData })
    }

    /// Gives the next bytes to the caller.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<()> {
        // SAFETY: `new` was promised that the function may be called with this context and any bytes.
        let goes_on = unsafe { (self.function)(self.context, bytes.as_ptr().cast(), bytes.len()) };
        if goes_on { Ok(()) } else { Err(Error::from(Status::Callback)) }
    }
}

/// A struct that names arrays.
pub(crate) trait Lists {
    /// What the arrays hold.
    type Said<'a>;

    /// # Safety
    /// `pointer` is not NULL, and a struct whose arrays are as long as it says, during the call.
    unsafe fn said<'a>(pointer: *const Self) -> Result<Self::Said<'a>>;
}

/// A struct that names arrays to be written.
pub(crate) trait Room: Sized {
    /// What writes them.
    type Of<'a>;

    /// # Safety
    /// `pointer` is NULL or a struct with room for `count` answers, which nobody else uses during the call.
    unsafe fn of<'a>(pointer: *mut Self, count: usize) -> Result<Self::Of<'a>>;
}
