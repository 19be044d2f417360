//! The geometry of the charts: where lines and bars stand, as numbers.

mod bars;
mod burn_down;
mod histogram;
mod portion;
mod scale;

pub(super) use bars::{Stripe, stripes};
pub(super) use burn_down::BurnDown;
pub(super) use histogram::Histogram;
pub(super) use portion::Portion;
