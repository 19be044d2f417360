//! robots.
