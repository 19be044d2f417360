//! The comail program: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = comail::world::sandbox::confined(std::env::args_os()) {
        return code;
    }
    if let Some(code) = comail::world::sandbox::granted(std::env::args_os()) {
        return code;
    }
    if let Some(code) = comail::run::agent::supervised(std::env::args_os()) {
        return code;
    }
    comail::cli::run(std::env::args_os()).into()
}
