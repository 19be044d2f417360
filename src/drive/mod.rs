//! drive.
