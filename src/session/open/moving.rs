//! Moving an index that is open to where the ledger ends, in place of opening it once more.

use crate::session::ledger::{Beyond, Ledger, Tail};
use crate::session::open::Session;

impl Session {
    /// Moves the index that is open to where the ledger ends, if it is still the one that lies
    /// there and nothing is amiss: to open it once more takes longer than most appends.
    pub(super) fn moves_on(&self) -> bool {
        let mut index = self.index.borrow_mut();
        if !index.is_in_place(self.dir()) || index.reload().is_err() {
            return false;
        }
        let last = index.checkpoint().last();
        let mut ledger = Ledger::at(self.dir(), index.checkpoint());
        match ledger.beyond(last) {
            Ok(Beyond::Bytes(0)) => true,
            Ok(Beyond::Bytes(_)) => {
                let followed = index.follow(&mut ledger, self.watch.as_ref());
                matches!(followed, Ok(Tail::Clean))
            }
            Ok(Beyond::Cut | Beyond::Other) | Err(_) => false,
        }
    }
}
