//! A certificate authority for tests.

use std::fmt;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

#[derive(Clone)]
pub struct Authority(Arc<CertifiedIssuer<'static, KeyPair>>);

enum Shown {
    /// That of the host asked for.
    Asked,
    /// Always this one.
    Fixed(String),
}

struct Issuing {
    authority: Authority,
    shown: Shown,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(Arc::new(
            CertifiedIssuer::self_signed(params, key).expect("a certificate of its own"),
        ))
    }

    /// Its certificate, as `network.ca-cert` takes it.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A server that shows the right certificate for every host.
    pub fn server_config(&self) -> ServerConfig {
        self.config(Shown::Asked)
    }

    /// A server that shows the certificate of `name`, whatever host is asked for.
    pub fn server_config_of(&self, name: &str) -> ServerConfig {
        self.config(Shown::Fixed(name.to_owned()))
    }

    /// A certificate for this name or address, and its key, both in PEM.
    pub fn pem_of(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new([name.to_owned()]).expect("a host name");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    }

    fn config(&self, shown: Shown) -> ServerConfig {
        let authority = self.clone();
        ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring knows the default versions")
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Issuing { authority, shown }))
    }

    fn issue(&self, name: &str) -> CertifiedKey {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new([name.to_owned()]).expect("a host name");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        let der = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let key = ring::sign::any_supported_type(&der).expect("ring knows its own keys");
        CertifiedKey::new(vec![certificate.der().clone()], key)
    }
}

impl ResolvesServerCert for Issuing {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = match &self.shown {
            Shown::Asked => hello.server_name()?,
            Shown::Fixed(name) => name,
        };
        Some(Arc::new(self.authority.issue(name)))
    }
}

impl fmt::Debug for Issuing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Issuing")
    }
}
