//! What every folder may use: digests, text, files, child processes.

pub mod clock;
mod digest;
pub mod files;
#[cfg(unix)]
pub mod process;
pub mod text;
pub mod word_list;

pub use digest::Digest;
