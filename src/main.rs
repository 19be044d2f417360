//! The comail program: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    comail::cli::run(std::env::args_os()).into()
}
