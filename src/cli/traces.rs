//! Traces of a server, sent to an OpenTelemetry collector over HTTP.
//!
//! The variables of OpenTelemetry's specification say where to:
//! <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>. Without them, nothing is sent.

#[cfg(feature = "opentelemetry")]
pub(super) use self::sent::Traces;

/// Traces are not part of this build.
#[cfg(not(feature = "opentelemetry"))]
pub(super) enum Traces {}

#[cfg(not(feature = "opentelemetry"))]
impl Traces {
    #[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
    pub(super) fn begin() -> Result<Option<Self>, String> {
        Ok(None)
    }

    pub(super) fn layer(&self) -> tracing_subscriber::layer::Identity {
        match *self {}
    }
}

#[cfg(feature = "opentelemetry")]
mod sent {
    use std::env;

    use opentelemetry::trace::TracerProvider as _;
    use opentelemetry_otlp::SpanExporter;
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
    use tracing::Subscriber;
    use tracing_opentelemetry::OpenTelemetryLayer;
    use tracing_subscriber::registry::LookupSpan;

    const ENDPOINTS: [&str; 2] = [
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    ];

    const SERVICE: &str = "OTEL_SERVICE_NAME";

    /// Sends what ended meanwhile when it is dropped.
    #[derive(Debug)]
    pub struct Traces(SdkTracerProvider);

    impl Drop for Traces {
        fn drop(&mut self) {
            // There is nobody left to tell that the collector is away.
            let _ = self.0.shutdown();
        }
    }

    impl Traces {
        /// `None` without a collector.
        pub fn begin() -> Result<Option<Self>, String> {
            let is_set = |name: &&str| env::var_os(name).is_some_and(|value| !value.is_empty());
            if !ENDPOINTS.iter().any(is_set) {
                return Ok(None);
            }
            // The exporter's client takes the one of the process, and there may be one already.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let exporter = SpanExporter::builder().with_http().build();
            let exporter = exporter.map_err(|why| why.to_string())?;
            let mut resource = Resource::builder();
            if !is_set(&SERVICE) {
                resource = resource.with_service_name("comail");
            }
            let provider = SdkTracerProvider::builder()
                .with_resource(resource.build())
                .with_batch_exporter(exporter)
                .build();
            Ok(Some(Self(provider)))
        }

        pub fn layer<S>(&self) -> OpenTelemetryLayer<S, SdkTracer>
        where
            S: Subscriber + for<'a> LookupSpan<'a>,
        {
            tracing_opentelemetry::layer()
                .with_tracer(self.0.tracer("comail"))
                .with_location(false)
                .with_threads(false)
        }
    }
}
