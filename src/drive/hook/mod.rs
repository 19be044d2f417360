//! What hooks of coding agents are answered: whether an agent may stop, and what it may run and
//! edit.

mod shell;
