//! replay.
