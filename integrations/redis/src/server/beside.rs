//! Long work, which runs in a thread of the module. The client of the work waits, and the server answers all other
//! clients.
//!
//! Values that such work reads do not change meanwhile: a command that would change one waits until the work's client
//! has its answer ([`Busy`]). A client in a transaction or a script cannot wait, so its work runs immediately, in the
//! server's thread.

use super::command::{Entry, answer};
use super::defaults;
use super::{Argument, Context, OK, Refusal, api};
use redis_module::raw;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};

/// The function that replies, in the server's thread, after the work. The function gets the command's arguments.
pub type Finish = Box<dyn FnOnce(&Context, &[Argument]) -> Result<(), Refusal> + Send>;

type Work = Box<dyn FnOnce() + Send>;

/// How far the priority of the module's thread is below that of the server's thread.
const NICENESS: c_int = 5;

/// A client that waits.
struct Waiting(*mut raw::RedisModuleBlockedClient);

// SAFETY: any thread may use the server's handle, one thread at a time.
unsafe impl Send for Waiting {}

impl Waiting {
    /// Lets the server call the client's reply function in its thread, with this function as the argument.
    fn wake(self, finish: Option<Finish>) {
        let finish = finish.map_or(std::ptr::null_mut(), |finish| Box::into_raw(Box::new(Some(finish))));
        // SAFETY: `self` is consumed, so a client is woken once. The server frees the argument with `forget`, and takes
        // the call from any thread.
        unsafe { api!(RedisModule_UnblockClient(self.0, finish.cast())) };
    }
}

/// A mark that the module's thread reads values. Clients that would change such a value wait until the mark is dropped.
#[derive(Default)]
pub struct Busy {
    waiting: Mutex<Vec<Waiting>>,
}

impl Busy {
    /// Restarts the command of this context when the work is done.
    pub fn wait(&self, context: &Context, command: Entry) {
        // SAFETY: the context is valid, and its client can wait (`Context::can_wait`).
        let client = unsafe { api!(RedisModule_BlockClient(context.raw(), Some(command), None, None, 0)) };
        self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(Waiting(client));
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let waiting = self.waiting.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        waiting.drain(..).for_each(|client| client.wake(None));
    }
}

impl Context {
    /// Whether the client can wait for its reply.
    pub fn can_wait(&self) -> bool {
        let not = raw::REDISMODULE_CTX_FLAGS_MULTI
            | raw::REDISMODULE_CTX_FLAGS_LUA
            | raw::REDISMODULE_CTX_FLAGS_DENY_BLOCKING
            | raw::REDISMODULE_CTX_FLAGS_REPLICATED
            | raw::REDISMODULE_CTX_FLAGS_LOADING;
        // A piece of a command runs again later.
        // SAFETY: the context is valid. A command that starts anew after a wait cannot wait once more.
        self.replied.is_some()
            || unsafe {
                api!(RedisModule_GetContextFlags(self.raw())) as u32 & not == 0
                    && api!(RedisModule_IsBlockedReplyRequest(self.raw())) == 0
            }
    }

    /// Whether work on `bytes` bytes runs in the module's thread: the work may take longer than the budget, and the
    /// client can wait.
    pub fn goes_beside(&self, bytes: usize) -> bool {
        defaults::is_long(bytes) && self.can_wait()
    }

    /// Runs `work` on `bytes` bytes: in the module's thread if the work may take long and the machine has a thread,
    /// otherwise immediately. The server's thread then calls the function that `work` returns, with the arguments of
    /// the command.
    ///
    /// # Errors
    /// The refusals of the function that `work` returns.
    pub fn beside(
        &self,
        arguments: &[Argument],
        bytes: usize,
        busy: Arc<Busy>,
        work: impl FnOnce() -> Finish + Send + 'static,
    ) -> Result<(), Refusal> {
        let Some(thread) = self.goes_beside(bytes).then(thread).flatten() else {
            // The function that finishes the work may change the values that the work reads.
            drop(busy);
            return work()(self, arguments);
        };
        // SAFETY: the context is valid, and its client can wait.
        let client = Waiting(unsafe { api!(RedisModule_BlockClient(self.raw(), Some(finish), None, Some(forget), 0)) });
        let work: Work = Box::new(move || {
            let finish =
                catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Box::new(|_, _| Err(Refusal::INTERNAL)));
            client.wake(Some(Box::new(move |context, arguments| {
                // From here on commands may change values again, and `finish` is the first to do so.
                drop(busy);
                finish(context, arguments)
            })));
        });
        // The thread runs until the server ends.
        let _ = thread.send(work);
        Ok(())
    }
}

/// Runs `work` in the module's thread. Returns false, without running `work`, if the machine has no more threads.
pub fn do_beside(work: impl FnOnce() + Send + 'static) -> bool {
    thread().is_some_and(|thread| thread.send(Box::new(work)).is_ok())
}

/// The module's thread, which runs one job after the other. `None` if the machine has no more threads.
fn thread() -> Option<&'static Sender<Work>> {
    static THREAD: OnceLock<Option<Sender<Work>>> = OnceLock::new();
    let start = || {
        let (sender, receiver) = channel::<Work>();
        let run = move || {
            // With more threads than processors, the server's thread goes first.
            // SAFETY: `setpriority` is for the calling thread, and touches no memory.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS) };
            receiver.iter().for_each(|work| drop(catch_unwind(AssertUnwindSafe(work))));
        };
        std::thread::Builder::new().name("petal".into()).spawn(run).ok().map(|_| sender)
    };
    THREAD.get_or_init(start).as_ref()
}

thread_local! {
    static IS_SERVERS: Cell<bool> = const { Cell::new(false) };
}

/// Records that this is the server's thread.
pub fn this_is_the_servers_thread() {
    IS_SERVERS.set(true);
}

/// Whether this is the server's main thread, and not one in which the server frees memory lazily.
pub fn is_servers_thread() -> bool {
    IS_SERVERS.get()
}

/// The server calls this function in its thread, for a client whose work is done.
unsafe extern "C" fn finish(
    context: *mut raw::RedisModuleCtx,
    arguments: *mut *mut raw::RedisModuleString,
    count: c_int,
) -> c_int {
    // SAFETY: `wake` gave this pointer, and the server calls `forget`, which frees it, afterwards. The other pointers
    // are valid until this function returns.
    unsafe {
        let given = api!(RedisModule_GetBlockedClientPrivateData(context)).cast::<Option<Finish>>();
        match given.as_mut().and_then(Option::take) {
            Some(finish) => answer(context, arguments, count, finish),
            None => OK,
        }
    }
}

/// The server calls this function in its thread: after `finish`, or without `finish` if the client has gone.
unsafe extern "C" fn forget(_: *mut raw::RedisModuleCtx, given: *mut c_void) {
    if !given.is_null() {
        // SAFETY: `wake` gave up this box, and the server calls this function once for it.
        let given = unsafe { Box::from_raw(given.cast::<Option<Finish>>()) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(given)));
    }
}
