//! Dies and fails on purpose. A child process inserts, syncs, closes, saves, shares and builds. It is killed at each of
//! its system calls, one run for each; each call fails once in turn; and the machine goes down (`power.rs`). Whatever
//! happens, the files must be what `docs/format.md` and the C header promise.
//!
//! Writers of every kind that changes in place are stopped after each of their instructions (`change.rs`).
//! `subjects.rs` says what they do, and `subject.rs` what must hold then.
//!
//! `cargo test -p petal-suite --test crash` takes a sample of the calls where a scenario makes many. With
//! `PETAL_CRASH=ROUNDS` every call fails in every way, and that many children of each scenario and each kind are killed
//! at random moments, which `make soak` does.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod change;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod memory;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod power;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod scenario;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod subject;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod subjects;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod tracer;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() {
    println!("crash: system calls are traced on x86-64 Linux only; nothing was tested");
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() {
    linux::main();
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux {
    use super::scenario::{ALL, Progress, Scenario};
    use super::tracer::{self, Fault, Traced};
    use super::{change, memory, power, subject, subjects};
    use libtest_mimic::{Arguments, Trial};
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    /// These variables tell this program that it is the child of a scenario, and where its files are.
    const SCENARIO: &str = "PETAL_CRASH_SCENARIO";
    const FOLDER: &str = "PETAL_CRASH_FOLDER";

    /// How many calls of a scenario are tried where not all are.
    const SAMPLE: usize = 60;

    /// The errors that calls fail with: those of a broken disk, of a full one, and of a signal.
    const ERRORS: [i32; 3] = [libc::EIO, libc::ENOSPC, libc::EINTR];

    pub fn main() {
        if let (Some(name), Some(folder)) = (std::env::var_os(SCENARIO), std::env::var_os(FOLDER)) {
            let scenario = ALL.iter().find(|scenario| name == scenario.name).unwrap();
            return child(scenario, Path::new(&folder));
        }
        if change::is_child(&subjects::all()) {
            return;
        }
        let arguments = Arguments::from_args();
        if !tracer::is_possible() {
            println!("crash: this system lets no process trace another; nothing was tested");
            return;
        }
        let rounds: Option<u64> = std::env::var("PETAL_CRASH").ok().and_then(|rounds| rounds.parse().ok());
        let all = rounds.is_some();
        let mut trials = Vec::new();
        for scenario in &ALL {
            let name = scenario.name;
            trials.push(Trial::test(format!("killed_in_{name}"), move || {
                for call in sample(calls(scenario), all) {
                    run(scenario, Fault::Kill(call));
                }
                Ok(())
            }));
            trials.push(Trial::test(format!("failed_in_{name}"), move || {
                for (i, call) in sample(calls(scenario), all).enumerate() {
                    let errors = if all { &ERRORS[..] } else { &ERRORS[i % ERRORS.len()..][..1] };
                    errors.iter().for_each(|errno| run(scenario, Fault::Fail(call, *errno)));
                }
                Ok(())
            }));
            // A saved file is not mapped, and what a rename leaves is up to the file system.
            if matches!(name, "write" | "write_in_a_larger_file" | "share") {
                trials.push(Trial::test(format!("machine_went_down_in_{name}"), move || {
                    power::run(scenario, |folder| command(scenario, folder));
                    Ok(())
                }));
            }
            if let Some(rounds) = rounds {
                trials.push(Trial::test(format!("killed_at_random_in_{name}"), move || {
                    // From the start of the program to some time after its end.
                    (0..rounds).for_each(|round| killed_after(scenario, Duration::from_micros(round % 500 * 40)));
                    Ok(())
                }));
            }
        }
        for subject in subjects::all() {
            let subject: &'static dyn subject::Subject = Box::leak(subject);
            let name = subject.name();
            // Slow: `make test` leaves these out, and `make test-all` has them.
            let each = Trial::test(format!("instruction_by_instruction_{name}"), || {
                Ok(change::instruction_by_instruction(subject)?)
            });
            trials.push(each.with_ignored_flag(true));
            if let Some(kills) = rounds {
                trials.push(Trial::test(format!("killed_while_changing_{name}"), move || {
                    Ok(change::at_random(subject, kills)?)
                }));
            }
        }
        libtest_mimic::run(&arguments, trials).exit();
    }

    fn child(scenario: &Scenario, folder: &Path) {
        let memory = memory::create(&folder.join("progress"));
        tracer::begin();
        (scenario.act)(folder, &Progress(memory.words()));
        tracer::end();
    }

    fn command(scenario: &Scenario, folder: &Path) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(SCENARIO, scenario.name).env(FOLDER, folder).stdin(Stdio::null());
        command
    }

    /// How many calls the child makes when nothing fails. The files that it leaves must be in order.
    fn calls(scenario: &Scenario) -> usize {
        run(scenario, Fault::None);
        let mut calls = 0;
        scenario.run(|folder, _| {
            let Traced { calls: counted, exit } =
                tracer::run(&mut command(scenario, folder), Fault::None, &mut |_| ()).unwrap();
            assert_eq!(exit, Some(0));
            calls = counted;
        });
        assert!(calls > 5, "{} makes {calls} calls", scenario.name);
        calls
    }

    /// The numbers of all calls, or of the first, the last and some between them.
    fn sample(calls: usize, all: bool) -> impl Iterator<Item = usize> {
        let (edge, middle) = (SAMPLE / 3, SAMPLE / 3);
        let stride = (calls.saturating_sub(2 * edge) / middle).max(1);
        (0..calls).filter(move |call| all || *call < edge || calls - call <= edge || call.is_multiple_of(stride))
    }

    fn run(scenario: &Scenario, fault: Fault) {
        let _named = Named(scenario.name, fault);
        scenario.run(|folder, _| {
            let traced = tracer::run(&mut command(scenario, folder), fault, &mut |_| ()).unwrap();
            let expected = if matches!(fault, Fault::Kill(_)) { None } else { Some(0) };
            assert_eq!(traced.exit, expected, "the child's exit status");
        });
    }

    /// Says which run panicked.
    struct Named(&'static str, Fault);

    impl Drop for Named {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("this was {} with {:?}", self.0, self.1);
            }
        }
    }

    fn killed_after(scenario: &Scenario, time: Duration) {
        scenario.run(|folder, _| {
            let mut child = command(scenario, folder).spawn().unwrap();
            std::thread::sleep(time);
            child.kill().unwrap();
            child.wait().unwrap();
        });
    }
}
