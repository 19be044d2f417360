//! A look that may hang, as one at a network file system whose server is gone.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// What `look` returns, if it returns before `limit`; one that hangs is left behind.
pub(super) fn within<T: Send + 'static>(
    limit: Duration,
    look: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(look()));
    receiver.recv_timeout(limit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_left_behind() {
        assert_eq!(within(Duration::from_secs(60), || 1), Some(1));
        let (held, never) = mpsc::channel::<()>();
        let hung = within(Duration::from_millis(1), move || never.recv().is_ok());
        assert_eq!(hung, None);
        drop(held);
    }
}
