//! The one integration binary: every file of tests is a module of it.

mod export_large;
mod export_place;
mod export_values;
mod export_workbook;
mod first_quest;
mod harness;
mod scan_formats;
mod scan_refusals;
mod scan_update;
mod servers;
mod sheets;
mod world_dns;
mod world_http;
mod world_limits;
