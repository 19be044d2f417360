//! The last calls of one agent process.
