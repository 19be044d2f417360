//! The comail program: parse, run, exit code.

fn main() {}
