//! Flushes that fail, for tests.

std::thread_local! {
    /// How many flushes of this thread still succeed; `None` means all.
    pub static FLUSHES_LEFT: core::cell::Cell<Option<u32>> = const { core::cell::Cell::new(None) };
}

/// Whether this flush fails.
pub(super) fn flush_fails() -> bool {
    FLUSHES_LEFT.with(|left| {
        let now = left.get();
        left.set(now.map(|left| left.saturating_sub(1)));
        now == Some(0)
    })
}
