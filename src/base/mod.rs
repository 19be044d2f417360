//! What every folder may use: digests, regular files, atomic writes.

pub mod clock;
mod digest;
pub mod files;
pub mod text;

pub use digest::Digest;
