//! A terminal that is held for screens, and given back on every way out.

use std::io;
use std::panic;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is held.
pub(super) trait Device: Send + 'static {
    /// Takes it.
    fn take(&mut self) -> io::Result<()>;
    /// Gives it back as it was.
    fn give_back(&mut self);
    /// Sends it these bytes.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// Holds a device as long as it lives, unless it is given back before.
pub(super) struct Held<D: Device>(Keeper<D>);

/// Can give the device back, from wherever the end comes.
pub(super) struct Keeper<D: Device>(Arc<Mutex<State<D>>>);

struct State<D> {
    device: D,
    held: bool,
}

impl<D: Device> Held<D> {
    /// Takes `device`.
    pub(super) fn take(device: D) -> io::Result<Self> {
        let state = State { device, held: true };
        // From here on: what is taken half is given back.
        let held = Self(Keeper(Arc::new(Mutex::new(state))));
        held.0.state().device.take()?;
        let keeper = held.keeper();
        let told = panic::take_hook();
        panic::set_hook(Box::new(move |why| {
            // What is said of a panic must be seen afterwards.
            keeper.give_back();
            told(why);
        }));
        Ok(held)
    }

    /// Another hand that can give it back.
    pub(super) fn keeper(&self) -> Keeper<D> {
        Keeper(Arc::clone(&self.0.0))
    }

    /// Sends it these bytes, if it is still held.
    pub(super) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.0.state();
        if state.held {
            state.device.send(bytes)
        } else {
            Ok(())
        }
    }
}

impl<D: Device> Keeper<D> {
    /// Gives it back, once.
    pub(super) fn give_back(&self) {
        let mut state = self.state();
        if std::mem::take(&mut state.held) {
            state.device.give_back();
        }
    }

    fn state(&self) -> MutexGuard<'_, State<D>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Device> Drop for Held<D> {
    fn drop(&mut self) {
        self.0.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes what is done with it.
    struct Noted {
        done: Arc<Mutex<Vec<&'static str>>>,
        broken: bool,
    }

    impl Device for Noted {
        fn take(&mut self) -> io::Result<()> {
            self.done.lock().unwrap().push("take");
            if self.broken {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            Ok(())
        }

        fn give_back(&mut self) {
            self.done.lock().unwrap().push("give back");
        }

        fn send(&mut self, _: &[u8]) -> io::Result<()> {
            self.done.lock().unwrap().push("send");
            Ok(())
        }
    }

    /// What is done when this is done with a device that is held.
    fn done(broken: bool, work: fn(&Held<Noted>)) -> Vec<&'static str> {
        let done = Arc::new(Mutex::new(Vec::new()));
        let device = Noted {
            done: Arc::clone(&done),
            broken,
        };
        let worked = panic::catch_unwind(|| Held::take(device).map(|held| work(&held)).is_ok());
        drop(worked);
        Arc::try_unwrap(done).map_or_else(
            |done| done.lock().unwrap().clone(),
            |done| done.into_inner().unwrap(),
        )
    }

    #[test]
    fn is_given_back_once_whatever_happens() {
        let sends = |held: &Held<Noted>| held.send(b"x").unwrap();
        assert_eq!(done(false, sends), ["take", "send", "give back"]);
        assert_eq!(done(true, sends), ["take", "give back"]);
        let panics: fn(&Held<Noted>) = |_| panic!("on purpose");
        assert_eq!(done(false, panics), ["take", "give back"]);
    }

    #[test]
    fn nothing_is_sent_to_what_was_given_back() {
        let early = |held: &Held<Noted>| {
            held.keeper().give_back();
            held.send(b"x").unwrap();
        };
        assert_eq!(done(false, early), ["take", "give back"]);
    }
}
