//! A world that many ask at once, each for a submission of its own.

use std::sync::Arc;

use crate::world::evidence::recorded::RecordedWorld;
use crate::world::fetch::live::LiveWorld;
use crate::world::sandbox::{Bench, LiveWorkshop, NoWorkshop, Workshop};
use crate::world::{Fetcher, Resolver};

/// What is lent for one submission.
#[derive(Clone, Copy)]
pub struct Lent<'a> {
    pub fetcher: &'a dyn Fetcher,
    pub resolver: &'a dyn Resolver,
    pub workshop: &'a dyn Workshop,
}

/// A world that many ask at once, each for a submission of its own.
pub trait SharedWorld: Send + Sync + 'static {
    fn lend(&self, look: &mut dyn FnMut(Lent<'_>));
}

/// A world with the tree that a session's quests are about.
pub struct WithBench {
    pub world: Box<dyn SharedWorld>,
    pub bench: Bench,
}

impl SharedWorld for WithBench {
    fn lend(&self, look: &mut dyn FnMut(Lent<'_>)) {
        let workshop = LiveWorkshop::new(&self.bench);
        self.world.lend(&mut |lent| {
            look(Lent {
                workshop: &workshop,
                ..lent
            });
        });
    }
}

impl SharedWorld for LiveWorld {
    fn lend(&self, look: &mut dyn FnMut(Lent<'_>)) {
        let own = self.for_another();
        look(Lent {
            fetcher: own.fetcher(),
            resolver: own.resolver(),
            workshop: &NoWorkshop,
        });
    }
}

impl SharedWorld for Arc<dyn SharedWorld> {
    fn lend(&self, look: &mut dyn FnMut(Lent<'_>)) {
        self.as_ref().lend(look);
    }
}

impl SharedWorld for RecordedWorld {
    fn lend(&self, look: &mut dyn FnMut(Lent<'_>)) {
        look(Lent {
            fetcher: self,
            resolver: self,
            workshop: &NoWorkshop,
        });
    }
}
