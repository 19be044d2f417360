//! dns.
