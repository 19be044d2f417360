//! How much one token may have in progress.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::token::TokenId;

/// The slots of all tokens; each token has the same number.
#[derive(Debug)]
pub(super) struct Slots {
    of_token: usize,
    counts: Mutex<BTreeMap<TokenId, usize>>,
}

impl Slots {
    pub(super) fn new(of_token: usize) -> Arc<Self> {
        Arc::new(Self {
            of_token,
            counts: Mutex::default(),
        })
    }

    /// A slot of this token, as long as one is free.
    pub(super) fn take(self: &Arc<Self>, token: TokenId) -> Option<Slot> {
        let mut counts = self.counts();
        let count = counts.entry(token).or_default();
        (*count < self.of_token).then(|| {
            *count += 1;
            Slot {
                slots: Arc::clone(self),
                token,
            }
        })
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<TokenId, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// It is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    token: TokenId,
}

impl Slot {
    pub(super) fn token(&self) -> TokenId {
        self.token
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut counts = self.slots.counts();
        if let Some(count) = counts.get_mut(&self.token) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.token);
            }
        }
    }
}
