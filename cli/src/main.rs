//! The command `petal`.

use std::process::ExitCode;

fn main() -> ExitCode {
    petal_cli::signals::install();
    ExitCode::from(petal_cli::run(std::env::args_os()))
}
