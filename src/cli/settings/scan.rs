//! The table `[scan]`: further settings that `scan` freezes.

use super::{Table, Values, no_key};
use crate::session::Lease;

#[derive(Debug)]
pub(in crate::cli) struct ScanTable {
    pub(in crate::cli) pause_after: u32,
    pub(in crate::cli) lease: Lease,
    pub(in crate::cli) generator_model: Option<String>,
    /// Whether carried PASSes are fetched again.
    pub(in crate::cli) recheck: bool,
}

impl Default for ScanTable {
    fn default() -> Self {
        Self {
            pause_after: 25,
            lease: Lease::DEFAULT,
            generator_model: None,
            recheck: false,
        }
    }
}

impl Table for ScanTable {
    const NAME: &'static str = "scan";

    fn set(&mut self, key: &str, values: Values<'_>) -> Result<(), String> {
        match key {
            "pause-after" => self.pause_after = values.within(0, 1_000_000)?,
            "lease" => self.lease = values.by(str::parse)?,
            "generator-model" => self.generator_model = Some(values.by(str::parse)?),
            "recheck" => self.recheck = values.is_true()?,
            _ => return no_key(key),
        }
        Ok(())
    }
}
