//! What every folder may use: digests, regular files, atomic writes.

mod digest;
pub mod files;
pub mod text;

pub use digest::Digest;
