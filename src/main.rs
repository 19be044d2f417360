//! The comail program: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(unix)]
    if let Some(code) = comail::world::workshop::confined(std::env::args_os()) {
        return code;
    }
    #[cfg(unix)]
    if let Some(code) = comail::drive::agent::supervised(std::env::args_os()) {
        return code;
    }
    comail::cli::run(std::env::args_os()).into()
}
