//! A world that many ask at once, each for a submission of its own.

use std::sync::Arc;

use crate::world::live::LiveWorld;
use crate::world::recorded::RecordedWorld;
use crate::world::{Fetcher, Resolver};

/// A world that many ask at once, each for a submission of its own.
pub trait SharedWorld: Send + Sync + 'static {
    /// Lends the world for one submission; calls `look` once.
    fn lend(&self, look: &mut dyn FnMut(&dyn Fetcher, &dyn Resolver));
}

impl SharedWorld for LiveWorld {
    fn lend(&self, look: &mut dyn FnMut(&dyn Fetcher, &dyn Resolver)) {
        let own = self.for_another();
        look(own.fetcher(), own.resolver());
    }
}

impl SharedWorld for Arc<dyn SharedWorld> {
    fn lend(&self, look: &mut dyn FnMut(&dyn Fetcher, &dyn Resolver)) {
        self.as_ref().lend(look);
    }
}

impl SharedWorld for RecordedWorld {
    fn lend(&self, look: &mut dyn FnMut(&dyn Fetcher, &dyn Resolver)) {
        look(self, self);
    }
}
