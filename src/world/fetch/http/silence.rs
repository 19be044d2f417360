//! Which silence an error of the HTTP library is.

use std::error::Error;
use std::io;
use std::iter;

use url::Url;

use crate::world::{Silence, Unanswered};

/// The silence that `error` is, with what is said all the way down to its cause.
pub(in crate::world) fn of(url: &Url, error: &reqwest::Error) -> Unanswered {
    Unanswered {
        silence: kind(error),
        status: None,
        detail: format!("{url}: {}", cause(error)),
    }
}

/// What led to an error, all the way down; the address stands in no cause.
pub(in crate::world) fn cause(error: &reqwest::Error) -> String {
    let cause = causes(error).last().map(ToString::to_string);
    cause.unwrap_or_else(|| error.to_string())
}

fn kind(error: &reqwest::Error) -> Silence {
    if error.is_timeout() {
        return Silence::Timeout;
    }
    if causes(error).any(<dyn Error>::is::<rustls::Error>) {
        return Silence::Tls;
    }
    if error.is_connect() {
        return Silence::Connection;
    }
    let cut_off = |cause: &(dyn Error + 'static)| {
        cause.downcast_ref::<hyper::Error>().is_some_and(|error| {
            error.is_incomplete_message() || error.is_closed() || error.is_canceled()
        }) || cause
            .downcast_ref::<io::Error>()
            .is_some_and(is_of_connection)
    };
    if causes(error).any(cut_off) {
        return Silence::Connection;
    }
    Silence::Protocol
}

fn is_of_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected
            | io::ErrorKind::UnexpectedEof
    )
}

/// The error and its causes, the errors that I/O errors wrap included: their own `source`
/// passes those over.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    iter::successors(Some(error), |&error: &&'e (dyn Error + 'static)| {
        let wrapped = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        match wrapped {
            Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}
