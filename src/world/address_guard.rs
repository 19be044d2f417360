//! address_guard.
