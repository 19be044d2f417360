//! The lists.
