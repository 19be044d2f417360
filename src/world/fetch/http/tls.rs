//! Whom TLS trusts: the roots compiled in, and those that the operator froze at scan.
//!
//! The configuration is built here rather than by the HTTP library, whose own looks at the
//! system's certificates and at `SSL_CERT_FILE`.

use std::sync::{Arc, OnceLock};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};
use rustls::{ClientConfig, RootCertStore};

/// TLS settings, built when the first request is made.
#[derive(Debug)]
pub(in crate::world) struct Tls {
    own_roots: RootCertStore,
    config: OnceLock<Result<ClientConfig, rustls::Error>>,
}

/// A text that holds no usable certificate authority.
#[derive(Debug, thiserror::Error)]
pub enum CaError {
    /// It is not PEM.
    #[error("a CA certificate of the session is not PEM; scan with another --ca-cert")]
    Pem(#[source] pem::Error),
    /// It holds no certificate.
    #[error("a CA file of the session holds no certificate; scan with another --ca-cert")]
    Empty,
    /// It is not a certificate that can be trusted as an authority.
    #[error("a CA certificate of the session cannot be used; scan with another --ca-cert")]
    Certificate(#[source] rustls::Error),
}

impl Tls {
    /// Reads the operator's authorities, each text one or more certificates in PEM.
    pub(in crate::world) fn new(ca_certs_pem: &[String]) -> Result<Self, CaError> {
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
    pub(in crate::world) fn config(&self) -> Result<ClientConfig, rustls::Error> {
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

/// The configuration of those who trust the compiled-in roots alone.
#[cfg(unix)]
pub(in crate::world) fn trusted() -> Result<ClientConfig, rustls::Error> {
    let roots = RootCertStore::empty();
    let config = OnceLock::new();
    Tls {
        own_roots: roots,
        config,
    }
    .build()
}

#[cfg(test)]
mod tests {
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
}
