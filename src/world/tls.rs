//! Trust in servers, and what errors and headers of HTTP mean, for every request that comail makes.

use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use std::{io, iter};

use jiff::fmt::rfc2822::DateTimeParser;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, pem};
use rustls::{ClientConfig, RootCertStore};

// The TLS configuration is built here rather than by the HTTP library, whose own looks at the
// system's certificates and at `SSL_CERT_FILE`.

/// TLS settings, built when the first request is made.
#[derive(Debug)]
pub(super) struct Tls {
    own_roots: RootCertStore,
    config: OnceLock<Result<ClientConfig, rustls::Error>>,
}

/// A text that holds no usable certificate authority.
#[derive(Debug, thiserror::Error)]
pub enum CaError {
    #[error("a CA certificate of the session is not PEM; scan with another --ca-cert")]
    Pem(#[source] pem::Error),
    #[error("a CA file of the session holds no certificate; scan with another --ca-cert")]
    Empty,
    /// It is not a certificate that can be trusted as an authority.
    #[error("a CA certificate of the session cannot be used; scan with another --ca-cert")]
    Certificate(#[source] rustls::Error),
}

impl Tls {
    /// Reads the operator's authorities, each text one or more certificates in PEM.
    pub(super) fn new(ca_certs_pem: &[String]) -> Result<Self, CaError> {
        let mut own_roots = RootCertStore::empty();
        for text in ca_certs_pem {
            let before = own_roots.len();
            for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
                let certificate = certificate.map_err(CaError::Pem)?;
                own_roots.add(certificate).map_err(CaError::Certificate)?;
            }
            if own_roots.len() == before {
                return Err(CaError::Empty);
            }
        }
        Ok(Self {
            own_roots,
            config: OnceLock::new(),
        })
    }

    /// The client's configuration, built at the first call.
    pub(super) fn config(&self) -> Result<ClientConfig, rustls::Error> {
        self.config.get_or_init(|| self.build()).clone()
    }

    fn build(&self) -> Result<ClientConfig, rustls::Error> {
        let mut roots = self.own_roots.clone();
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(config)
    }
}

/// Trusts only the compiled-in roots.
pub(super) fn trusted() -> Result<ClientConfig, rustls::Error> {
    Tls {
        own_roots: RootCertStore::empty(),
        config: OnceLock::new(),
    }
    .build()
}

/// The chain of causes of an error; none of them contains the address.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let cause = causes(error).last().map(ToString::to_string);
    cause.unwrap_or_else(|| error.to_string())
}

/// The error and its causes, the errors that I/O errors wrap included: their own `source`
/// passes those over.
pub(super) fn causes<'e>(
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
        let tls = Tls::new(&texts).expect("they are authorities");
        assert_eq!(tls.own_roots.len(), 3);
        assert!(tls.config().is_ok());
    }

    #[test]
    fn a_text_without_a_usable_certificate_is_refused() {
        let good = authority();
        for bad in [
            "",
            "no PEM",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ] {
            assert!(
                Tls::new(&[good.clone(), bad.to_owned()]).is_err(),
                "{bad:?}"
            );
        }
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn seconds_and_dates_are_understood() {
        // RFC 9110 §5.6.7: Sun, 06 Nov 1994 08:49:37 GMT is 784111777.
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(retry_after(" 120 ", at(0)), Some(Duration::from_secs(120)));
        assert_eq!(
            retry_after(date, at(784_111_770)),
            Some(Duration::from_secs(7))
        );
        assert_eq!(retry_after(date, at(784_111_800)), Some(Duration::ZERO));
    }

    #[test]
    fn what_is_neither_is_not_obeyed() {
        for value in ["", "-1", "1.5", "soon", "12 s"] {
            assert_eq!(retry_after(value, at(0)), None, "{value:?}");
        }
    }

    #[test]
    fn a_number_beyond_all_bounds_is_the_longest_wait() {
        let wait = retry_after(&"9".repeat(40), at(0));
        assert_eq!(wait, Some(Duration::from_secs(u64::MAX)));
    }

    proptest! {
        #[test]
        fn no_value_makes_it_panic(value in "\\PC{0,40}") {
            let _ = retry_after(&value, at(0));
        }
    }
}
