//! What every HTTP request of comail shares: its runtime, its client, the servers that it trusts,
//! and what errors and headers mean.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{io, iter};

use jiff::fmt::rfc2822::DateTimeParser;
use nix::errno::Errno;
use reqwest::{ClientBuilder, redirect, retry};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, pem};
use rustls::{ClientConfig, RootCertStore};

/// Drives one exchange on a runtime of its own: nothing of an exchange outlives it, and exchanges of
/// several threads do not wait for each other.
pub(crate) fn block_on<T>(exchange: impl Future<Output = T>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(exchange))
}

/// A client that uses no proxy, neither of the environment nor of the system, keeps no connection,
/// follows no redirect and retries nothing: each would be a request that the evidence does not show.
pub(crate) fn client(tls: ClientConfig) -> ClientBuilder {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .pool_max_idle_per_host(0)
        .http1_only()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .no_proxy()
}

/// Why the session's certificate authorities cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaError {
    #[error("a CA certificate of the session is not PEM; scan with another network.ca-cert")]
    Pem(#[source] pem::Error),
    #[error("a CA file of the session holds no certificate; scan with another network.ca-cert")]
    Empty,
    #[error("a CA certificate of the session cannot be used; scan with another network.ca-cert")]
    Certificate(#[source] rustls::Error),
    #[error("TLS cannot be set up")]
    Setup(#[source] rustls::Error),
}

/// The compiled-in authorities, and the operator's, each text one or more certificates in PEM.
pub(crate) fn authorities(ca_certs_pem: &[String]) -> Result<RootCertStore, CaError> {
    let mut roots = RootCertStore::empty();
    for text in ca_certs_pem {
        let before = roots.len();
        for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
            let certificate = certificate.map_err(CaError::Pem)?;
            roots.add(certificate).map_err(CaError::Certificate)?;
        }
        if roots.len() == before {
            return Err(CaError::Empty);
        }
    }
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    Ok(roots)
}

// The configuration is built here rather than by the HTTP library, whose own looks at the system's
// certificates and at `SSL_CERT_FILE`.
pub(crate) fn trusting(roots: RootCertStore) -> Result<ClientConfig, CaError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(CaError::Setup)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// The chain of causes of an error; none of them contains the address.
pub(crate) fn cause(error: &reqwest::Error) -> String {
    let cause = causes(error).last().map(ToString::to_string);
    cause.unwrap_or_else(|| error.to_string())
}

/// The error and its causes, the errors that I/O errors wrap included: their own `source`
/// passes those over.
pub(crate) fn causes<'e>(
    error: &'e (dyn Error + 'static),
) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
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

/// Whether the system let this process send nothing, which says nothing about the other side.
/// Whoever runs `submit` can lower the limits of its process, and can use up every port.
pub(super) fn is_denied(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw);
    error.kind() == io::ErrorKind::PermissionDenied
        || matches!(
            code,
            Some(
                Errno::EMFILE
                    | Errno::ENFILE
                    | Errno::ENOBUFS
                    | Errno::ENOMEM
                    | Errno::EADDRINUSE
                    | Errno::EADDRNOTAVAIL
            )
        )
}

/// How long the server asks to be left alone, `now` being now: seconds, or a date, for which
/// the past means not at all.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are still a number: longer than anyone waits.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = DateTimeParser::new()
        .relaxed_weekday(true)
        .parse_timestamp(value)
        .ok()?;
    Some(
        SystemTime::from(date)
            .duration_since(now)
            .unwrap_or_default(),
    )
}

/// The body, if it has at most `max` bytes. They are counted as they arrive, after decompression.
pub async fn read_body(
    mut response: reqwest::Response,
    max: u64,
) -> reqwest::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if (body.len() + chunk.len()) as u64 > max {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn authority() -> String {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut params = rcgen::CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.self_signed(&key).expect("a certificate").pem()
    }

    #[test]
    fn every_certificate_of_every_text_is_trusted() {
        let texts = [authority() + &authority(), authority()];
        let roots = authorities(&texts).expect("they are authorities");
        assert_eq!(roots.len(), webpki_roots::TLS_SERVER_ROOTS.len() + 3);
        assert!(trusting(roots).is_ok());
    }

    #[test]
    fn a_text_without_a_usable_certificate_is_refused() {
        let good = authority();
        for bad in [
            "",
            "no PEM",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ] {
            let texts = [good.clone(), bad.to_owned()];
            assert!(authorities(&texts).is_err(), "{bad:?}");
        }
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn seconds_and_dates_are_understood_and_nothing_else() {
        // RFC 9110 §5.6.7: Sun, 06 Nov 1994 08:49:37 GMT is 784111777.
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let endless = "9".repeat(40);
        for (value, now, expected) in [
            (" 120 ", 0, Some(120)),
            (date, 784_111_770, Some(7)),
            (date, 784_111_800, Some(0)),
            (&endless, 0, Some(u64::MAX)),
            ("", 0, None),
            ("-1", 0, None),
            ("1.5", 0, None),
            ("soon", 0, None),
            ("12 s", 0, None),
        ] {
            let expected = expected.map(Duration::from_secs);
            assert_eq!(retry_after(value, at(now)), expected, "{value:?}");
        }
    }

    #[test]
    fn a_system_that_lets_nothing_out_is_told_from_one_that_refuses() {
        for (code, denied) in [
            (Errno::EMFILE, true),
            (Errno::EACCES, true),
            (Errno::EPERM, true),
            (Errno::EADDRNOTAVAIL, true),
            (Errno::ECONNREFUSED, false),
            (Errno::ETIMEDOUT, false),
            (Errno::EHOSTUNREACH, false),
        ] {
            let error = io::Error::from_raw_os_error(code as i32);
            assert_eq!(is_denied(&error), denied, "{code}");
        }
    }

    proptest! {
        #[test]
        fn no_value_makes_it_panic(value in "\\PC{0,40}") {
            let _ = retry_after(&value, at(0));
        }
    }
}
