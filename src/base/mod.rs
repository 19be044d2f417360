//! What every folder may use: digests, regular files, atomic writes.

pub mod atomic;
pub mod regular;

mod digest;

pub use digest::Digest;
