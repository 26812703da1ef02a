//! The command `petal`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(petal_cli::run(std::env::args_os()))
}
