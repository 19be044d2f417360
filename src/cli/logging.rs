//! Log messages on stderr, enabled by `-v` or `COMAIL_LOG`.
//!
//! Logging changes nothing else, so an agent may set the variable. Only this program's own messages
//! are printed; what libraries log may hold keys.

use std::ffi::OsString;
use std::fmt;
use std::io;

use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::{EnvFilter, FilterFn};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, Layer};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, Registry};

use super::traces::Traces;
use crate::base::text::Escaped;
use crate::serve::Recorder;

/// The variable with a filter, such as `info` or `comail::world=debug`.
pub(super) const LOG_VARIABLE: &str = "COMAIL_LOG";

/// What a server counts and traces, whatever is printed.
pub(super) struct Watched<'a> {
    pub(super) measured: &'static Recorder,
    pub(super) traces: Option<&'a Traces>,
}

/// Starts logging at the level of `-v`, or else as the variable says.
pub(super) fn begin(
    verbose: u8,
    variable: Option<OsString>,
    watched: Option<Watched<'_>>,
) -> Result<(), String> {
    let filter = filter(verbose, variable)?;
    if filter.is_none() && watched.is_none() {
        return Ok(());
    }
    let printed = filter.map(|filter| {
        let filter = EnvFilter::builder().with_regex(false).parse(filter);
        let filter = filter.map_err(|error| error.to_string())?;
        let layer = Layer::new()
            .event_format(OneLine)
            .with_writer(io::stderr)
            // A closed stderr must not end the command.
            .log_internal_errors(false)
            .with_filter(FilterFn::new(is_ours))
            .with_filter(filter);
        Ok::<_, String>(layer)
    });
    let traces = watched.as_ref().and_then(|it| it.traces);
    let traces = traces.map(|it| it.layer().with_filter(FilterFn::new(is_measured)));
    let measured = watched.map(|it| it.measured.with_filter(FilterFn::new(is_measured)));
    let subscriber = Registry::default()
        .with(printed.transpose()?)
        .with(measured)
        .with(traces);
    tracing::subscriber::set_global_default(subscriber).map_err(|error| error.to_string())
}

fn is_measured(metadata: &Metadata<'_>) -> bool {
    *metadata.level() <= Level::DEBUG && is_ours(metadata)
}

fn filter(verbose: u8, variable: Option<OsString>) -> Result<Option<String>, String> {
    let level = match (verbose, variable) {
        (0, None) => return Ok(None),
        (0, Some(variable)) => {
            let text = variable.into_string();
            let text = text.map_err(|_| "it is not UTF-8".to_owned())?;
            return Ok(Some(text).filter(|text| !text.trim().is_empty()));
        }
        (1, _) => "info",
        (2, _) => "debug",
        (3.., _) => "trace",
    };
    Ok(Some(format!("comail={level}")))
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target().strip_prefix("comail");
    target.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// One line per event, with control characters escaped.
struct OneLine;

impl<S, N> FormatEvent<S, N> for OneLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = String::new();
        context.format_fields(Writer::new(&mut fields), event)?;
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        let within = context.event_scope().into_iter().flatten();
        let within: String = within.flat_map(|span| [span.name(), ": "]).collect();
        writeln!(writer, "{level}: {within}{}", Escaped(&fields))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn log_lines_are_escaped_and_only_ours() {
        let kept = Kept::default();
        let writer = kept.clone();
        let layer = Layer::new()
            .event_format(OneLine)
            .with_writer(move || writer.clone())
            .with_filter(FilterFn::new(is_ours));
        let subscriber = Registry::default().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            let name = "a\u{1b}[31m\n\u{202e}b";
            tracing::info!(name, shown = %name, "asked\r");
            tracing::info!(target: "comailer", "not ours");
            tracing::info!(target: "hyper::client", "not ours");
        });
        let bytes = kept.0.lock().unwrap().clone();
        let told = String::from_utf8(bytes).unwrap();
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(told.starts_with("info: asked"), "{told}");
        let unsafe_ones = told
            .trim_end()
            .chars()
            .filter(|c| crate::base::text::is_unsafe(*c));
        assert_eq!(unsafe_ones.count(), 0, "{told:?}");
    }
}
