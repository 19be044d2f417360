//! Reads lists and writes results.

pub mod atomic;
mod cell_reference;
pub mod csv_write;
mod inline_cell;
pub mod join;
pub mod jsonl_write;
pub mod result_columns;
pub mod results;
pub mod workbook_copy;
pub mod workbook_new;
