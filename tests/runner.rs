//! The one integration binary: every file of tests is a module of it.
