//! Runs a child and stops it at its system calls: to count them, to kill it at one of them, or to make one fail.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// What happens to the child.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Nothing: its calls are counted.
    None,
    /// It is killed when it enters the call with this number, from 0.
    Kill(usize),
    /// The call with this number is not made, and fails with this `errno`.
    Fail(usize, i32),
}

/// What became of the child.
pub struct Traced {
    /// The calls between [`begin`] and [`end`] that faults can happen to.
    pub calls: usize,
    /// How it ended: its exit status, or `None` if it was killed.
    pub exit: Option<i32>,
}

/// A system call of the child that faults can happen to.
pub struct Call {
    pub process: libc::pid_t,
    pub number: libc::c_long,
    pub arguments: [u64; 3],
    /// What it returned; `None` before it is made.
    pub result: Option<i64>,
}

/// The descriptors of the two writes that mark the part of the child's life to watch.
const BEGIN: u64 = u32::MAX as u64 - 1000;
const END: u64 = u32::MAX as u64 - 1001;

/// Called by the child before the part to watch.
pub fn begin() {
    mark(BEGIN);
}

/// Called by the child after the part to watch.
pub fn end() {
    mark(END);
}

fn mark(descriptor: u64) {
    // SAFETY: no such descriptor is open; the call fails and does nothing.
    unsafe { libc::syscall(libc::SYS_write, descriptor as i32, core::ptr::null::<u8>(), 0) };
}

/// Whether a call is one by which the library handles files. Only these fail: a failure in what Rust's runtime does for
/// the child would say nothing about the library.
fn is_of_files(registers: &libc::user_regs_struct) -> bool {
    let call = registers.orig_rax as libc::c_long;
    if call == libc::SYS_mmap {
        return registers.r8 as i32 >= 0;
    }
    [
        libc::SYS_open,
        libc::SYS_openat,
        libc::SYS_read,
        libc::SYS_pread64,
        libc::SYS_write,
        libc::SYS_pwrite64,
        libc::SYS_pwritev,
        libc::SYS_writev,
        libc::SYS_msync,
        libc::SYS_fsync,
        libc::SYS_fdatasync,
        libc::SYS_sync_file_range,
        libc::SYS_fcntl,
        libc::SYS_flock,
        libc::SYS_stat,
        libc::SYS_fstat,
        libc::SYS_lstat,
        libc::SYS_newfstatat,
        libc::SYS_statx,
        libc::SYS_ftruncate,
        libc::SYS_fallocate,
        libc::SYS_rename,
        libc::SYS_renameat,
        libc::SYS_renameat2,
        libc::SYS_link,
        libc::SYS_linkat,
        libc::SYS_unlink,
        libc::SYS_unlinkat,
        libc::SYS_fchmod,
        libc::SYS_fchown,
        libc::SYS_getdents64,
    ]
    .contains(&call)
}

/// Whether this process may trace its children; a sandbox may forbid it.
pub fn is_possible() -> bool {
    run(&mut Command::new("/bin/true"), Fault::None, &mut |_| ()).is_ok()
}

/// Runs `command` to its end. `watch` sees each call twice, before and after it is made, while the child stands still.
///
/// # Errors
/// What the system reports if the command cannot be run, or cannot be traced.
pub fn run(command: &mut Command, fault: Fault, watch: &mut dyn FnMut(&Call)) -> io::Result<Traced> {
    // SAFETY: the closure makes one system call and touches no memory.
    unsafe {
        command.pre_exec(|| check(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0)).map(|_| ()));
    }
    let child = command.spawn()?;
    let pid = child.id() as libc::pid_t;
    // The child stops when its program starts.
    wait(pid)?;
    let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
    // SAFETY: the child is stopped and ours.
    check(unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, pid, 0, options) })?;
    let (mut looking, mut entering, mut calls, mut failing) = (false, false, 0, None);
    let mut signal = 0;
    loop {
        // SAFETY: the child is stopped and ours.
        check(unsafe { libc::ptrace(libc::PTRACE_SYSCALL, pid, 0, signal) })?;
        signal = 0;
        let state = wait(pid)?;
        if libc::WIFEXITED(state) {
            return Ok(Traced { calls, exit: Some(libc::WEXITSTATUS(state)) });
        }
        if libc::WIFSIGNALED(state) {
            return Ok(Traced { calls, exit: None });
        }
        if libc::WSTOPSIG(state) != libc::SIGTRAP | 0x80 {
            signal = libc::WSTOPSIG(state);
            continue;
        }
        entering = !entering;
        let mut registers = registers(pid)?;
        let call = |result| Call {
            process: pid,
            number: registers.orig_rax as libc::c_long,
            arguments: [registers.rdi, registers.rsi, registers.rdx],
            result,
        };
        if !entering {
            if looking && is_of_files(&registers) {
                watch(&call(Some(registers.rax as i64)));
            }
            if let Some(errno) = failing.take() {
                registers.rax = -i64::from(errno) as u64;
                set_registers(pid, &registers)?;
            }
            continue;
        }
        if registers.orig_rax as libc::c_long == libc::SYS_write {
            let descriptor = u64::from(registers.rdi as u32);
            looking = (looking || descriptor == BEGIN) && descriptor != END;
            if descriptor == BEGIN {
                continue;
            }
        }
        if !looking || !is_of_files(&registers) {
            continue;
        }
        watch(&call(None));
        match fault {
            Fault::Kill(at) if at == calls => {
                // SAFETY: a signal to a child that has not been waited for.
                check(unsafe { libc::kill(pid, libc::SIGKILL) }.into())?;
                while !libc::WIFSIGNALED(wait(pid)?) {}
                return Ok(Traced { calls, exit: None });
            }
            Fault::Fail(at, errno) if at == calls => {
                // No call has this number, so the system does nothing.
                registers.orig_rax = u64::MAX;
                set_registers(pid, &registers)?;
                failing = Some(errno);
            }
            _ => {}
        }
        calls += 1;
    }
}

/// Runs `command` until it stops itself ([`stop`]), and then one instruction at a time. `watch` is called after each,
/// until it returns false. Then the child is killed.
///
/// # Errors
/// What the system reports if the command cannot be run, or cannot be traced.
pub fn step(command: &mut Command, watch: &mut dyn FnMut() -> bool) -> io::Result<()> {
    // SAFETY: the closure makes one system call and touches no memory.
    unsafe {
        command.pre_exec(|| check(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0)).map(|_| ()));
    }
    let child = command.spawn()?;
    let pid = child.id() as libc::pid_t;
    wait(pid)?;
    // SAFETY: the child is stopped and ours.
    check(unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, pid, 0, libc::PTRACE_O_EXITKILL) })?;
    let mut request = libc::PTRACE_CONT;
    loop {
        // SAFETY: the child is stopped and ours.
        check(unsafe { libc::ptrace(request, pid, 0, 0) })?;
        let state = wait(pid)?;
        if !libc::WIFSTOPPED(state) {
            return Err(io::Error::other("the child ended before it had taken its steps"));
        }
        if libc::WSTOPSIG(state) == libc::SIGSTOP {
            request = libc::PTRACE_SINGLESTEP;
        }
        if request == libc::PTRACE_SINGLESTEP && !watch() {
            break;
        }
    }
    // SAFETY: a signal to a child that has not been waited for.
    check(unsafe { libc::kill(pid, libc::SIGKILL) }.into())?;
    while !libc::WIFSIGNALED(wait(pid)?) {}
    Ok(())
}

/// Called by the child before the part of its life that [`step`] watches.
pub fn stop() {
    // SAFETY: a signal to this process.
    unsafe { libc::raise(libc::SIGSTOP) };
}

fn wait(pid: libc::pid_t) -> io::Result<i32> {
    let mut state = 0;
    // SAFETY: `state` is writable.
    check(unsafe { libc::waitpid(pid, &mut state, libc::__WALL) }.into())?;
    Ok(state)
}

fn registers(pid: libc::pid_t) -> io::Result<libc::user_regs_struct> {
    // SAFETY: all-zero bytes are valid registers; the child is stopped and ours, and the struct is filled.
    unsafe {
        let mut registers: libc::user_regs_struct = core::mem::zeroed();
        check(libc::ptrace(libc::PTRACE_GETREGS, pid, 0, &mut registers))?;
        Ok(registers)
    }
}

fn set_registers(pid: libc::pid_t, registers: &libc::user_regs_struct) -> io::Result<()> {
    // SAFETY: the child is stopped and ours.
    check(unsafe { libc::ptrace(libc::PTRACE_SETREGS, pid, 0, registers) }).map(|_| ())
}

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
