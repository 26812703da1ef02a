//! Commands with many items, which run in pieces. Each piece is a separate command with some of the items. The server
//! answers other clients between pieces. The client waits for the last piece, and gets one reply.

use super::command::Handler;
use super::defaults;
use super::{Argument, Context, Refusal, api};
use redis_module::raw;
use std::cell::{Cell, RefCell};
use std::ffi::{c_long, c_void};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Instant;

/// The most items of a piece, and about the most bytes. The module reads the clock between pieces.
const ITEMS: usize = 256;
const BYTES: usize = 64 << 10;

/// How many milliseconds a command waits if a value is in use.
const PAUSE: i64 = 1;

/// The replies of the pieces so far.
#[derive(Default)]
pub struct Replied {
    /// The number of elements so far, if the reply is an array.
    answers: Cell<Option<usize>>,
    /// The sum so far, if the reply is a sum.
    sum: Cell<Option<u64>>,
    /// Whether no reply may follow.
    is_last: Cell<bool>,
}

/// A command with pieces that have not run yet.
struct Pieces {
    client: *mut raw::RedisModuleBlockedClient,
    /// Where the reply goes, piece by piece.
    replies: *mut raw::RedisModuleCtx,
    is_resp3: bool,
    words: (*mut *mut raw::RedisModuleString, usize),
    /// The number of words at the start of each piece, and the number of words of an item.
    head: usize,
    of_item: usize,
    handler: Handler,
    /// The index of the first remaining word.
    at: usize,
    replied: Rc<Replied>,
}

/// How a run of pieces ended.
enum Progress {
    Done,
    /// The budget is used up.
    Later,
    /// A value is in use.
    InUse,
}

thread_local! {
    /// Clients that disconnected before all of their pieces ran. Only the server's thread uses this list.
    static GONE: RefCell<Vec<*mut raw::RedisModuleBlockedClient>> = const { RefCell::new(Vec::new()) };
}

impl Context {
    /// Runs a command with many items in pieces, by the command's own function. Each piece has the first `head` words,
    /// and some items of `of_item` words each. Returns false, without running anything, if there are few items or if
    /// the client cannot wait. The function then runs as a whole.
    pub fn in_pieces(&self, arguments: &[Argument], head: usize, of_item: usize, handler: Handler) -> bool {
        let items = (arguments.len() - head) / of_item;
        if items <= ITEMS || !defaults::are_many(items) || self.replied.is_some() || !self.can_wait() {
            return false;
        }
        // SAFETY: the context is valid, its client can wait, and `end` gives up both handles. The words stay valid
        // while the client waits. When the client disconnects, the server calls `gone` before it frees the words.
        let pieces = unsafe {
            let client = api!(RedisModule_BlockClient(self.raw, None, None, None, 0));
            api!(RedisModule_SetDisconnectCallback(client, Some(gone)));
            let replies = api!(RedisModule_GetThreadSafeContext(client));
            let (is_resp3, words) = (self.is_resp3, self.words);
            let replied = Rc::default();
            Box::new(Pieces { client, replies, is_resp3, words, head, of_item, handler, at: head, replied })
        };
        pieces.go_on(self.raw);
        true
    }

    /// Begins an array of `length` replies, or the part of an array that this piece replies. Returns false if the
    /// command does not run in pieces.
    pub(super) fn begin_array(&self, length: usize) -> bool {
        let Some(replied) = &self.replied else { return false };
        if replied.answers.get().is_none() {
            // SAFETY: the context is valid, and `end` sets the length of the array.
            unsafe { api!(RedisModule_ReplyWithArray(self.replies, c_long::from(raw::REDISMODULE_POSTPONED_LEN))) };
        }
        replied.answers.set(Some(replied.answers.get().unwrap_or(0) + length));
        true
    }

    /// Replies a number of items. If the command runs in pieces, the reply is the sum over all pieces.
    pub fn reply_sum(&self, count: u64) {
        match &self.replied {
            Some(replied) => replied.sum.set(Some(replied.sum.get().unwrap_or(0).saturating_add(count))),
            None => self.reply_count(count),
        }
    }

    /// Replies an error as the last reply, even if items remain.
    pub fn reply_last(&self, refusal: &Refusal) {
        if let Some(replied) = &self.replied {
            replied.is_last.set(true);
        }
        self.reply_refusal(refusal);
    }
}

impl Pieces {
    /// Runs pieces until the budget is used up. If pieces remain, the server calls `later` for them.
    fn go_on(mut self: Box<Self>, context: *mut raw::RedisModuleCtx) {
        let is_gone = GONE.with_borrow_mut(|gone| {
            let place = gone.iter().position(|client| *client == self.client);
            place.map(|place| gone.swap_remove(place)).is_some()
        });
        let pause = match is_gone {
            true => return self.end(),
            false => match self.some(context) {
                Progress::Done => return self.end(),
                Progress::Later => 0,
                Progress::InUse => PAUSE,
            },
        };
        // SAFETY: the context is valid, and `later` takes the box back.
        unsafe { api!(RedisModule_CreateTimer(context, pause, Some(later), Box::into_raw(self).cast())) };
    }

    /// Runs pieces until the budget is used up.
    fn some(&mut self, context: *mut raw::RedisModuleCtx) -> Progress {
        let start = Instant::now();
        // SAFETY: the client is still connected, so its words are valid.
        let words = unsafe { std::slice::from_raw_parts(self.words.0, self.words.1) };
        let mut piece = words[..self.head].to_vec();
        while self.at < words.len() {
            piece.truncate(self.head);
            piece.extend_from_slice(&words[self.next(words)]);
            let here = Context {
                raw: context,
                replies: self.replies,
                words: (piece.as_mut_ptr(), piece.len()),
                is_resp3: self.is_resp3,
                replied: Some(Rc::clone(&self.replied)),
            };
            // SAFETY: an `Argument` is a transparent pointer to a string.
            let arguments = unsafe { std::slice::from_raw_parts(piece.as_ptr().cast::<Argument>(), piece.len()) };
            let outcome = catch_unwind(AssertUnwindSafe(|| (self.handler)(&here, arguments)));
            match outcome.unwrap_or(Err(Refusal::INTERNAL)) {
                Ok(()) => self.at += piece.len() - self.head,
                Err(Refusal::Later(_)) => return Progress::InUse,
                Err(refusal) => {
                    // An error is the whole reply, or the last element of a started array.
                    if self.replied.answers.get().is_some() {
                        here.begin_array(1);
                    }
                    self.replied.sum.set(None);
                    here.reply_refusal(&refusal);
                    return Progress::Done;
                }
            }
            if self.replied.is_last.get() {
                return Progress::Done;
            }
            if start.elapsed() >= defaults::budget() {
                return if self.at < words.len() { Progress::Later } else { Progress::Done };
            }
        }
        Progress::Done
    }

    /// The words of the next items.
    fn next(&self, words: &[*mut raw::RedisModuleString]) -> Range<usize> {
        let (mut end, mut bytes) = (self.at, 0);
        while end < words.len() && end - self.at < ITEMS * self.of_item && bytes < BYTES {
            let item = &words[end..end + self.of_item];
            // SAFETY: an `Argument` is a transparent pointer to a string, and the words are valid.
            bytes +=
                item.iter().map(|word| unsafe { &*(&raw const *word).cast::<Argument>() }.bytes().len()).sum::<usize>();
            end += self.of_item;
        }
        self.at..end
    }

    /// Sends the collected reply, and unblocks the client.
    fn end(self: Box<Self>) {
        // SAFETY: the handles are valid, and only this function gives them up.
        unsafe {
            if let Some(answers) = self.replied.answers.get() {
                api!(RedisModule_ReplySetArrayLength(self.replies, answers as c_long));
            } else if let Some(sum) = self.replied.sum.get() {
                api!(RedisModule_ReplyWithLongLong(self.replies, sum.min(i64::MAX as u64) as i64));
            }
            api!(RedisModule_FreeThreadSafeContext(self.replies));
            api!(RedisModule_UnblockClient(self.client, std::ptr::null_mut()));
        }
    }
}

/// The server calls this function in its thread, after it has answered other clients.
unsafe extern "C" fn later(context: *mut raw::RedisModuleCtx, pieces: *mut c_void) {
    // SAFETY: `go_on` gave up this box.
    let pieces = unsafe { Box::from_raw(pieces.cast::<Pieces>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| pieces.go_on(context)));
}

/// The server calls this function in its thread when a waiting client disconnects.
unsafe extern "C" fn gone(_: *mut raw::RedisModuleCtx, client: *mut raw::RedisModuleBlockedClient) {
    GONE.with_borrow_mut(|gone| gone.push(client));
}
