//! What a judge tells Prometheus: the session, as it is recorded, and the work of this process, as it
//! is logged.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

type Labels = Vec<(&'static str, String)>;

/// The content type of the text format.
pub const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// From a fast check to the longest judgement.
const SECONDS: [f64; 10] = [0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 30.0, 120.0, 600.0];

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

/// The work of this process since it began.
#[derive(Debug)]
pub struct Recorder {
    checks: Family<Labels, Histogram, fn() -> Histogram>,
    lookups: Family<Labels, Counter>,
    answers: Family<Labels, Counter>,
    lock: Histogram,
    database: Histogram,
    pub(super) answering: Gauge,
    pub(super) waiting: Gauge,
}

/// What the ledger says of the session.
#[derive(Debug, Default)]
pub struct SessionFigures {
    /// The number of quests in each state.
    pub quests: Vec<(&'static str, u32)>,
    pub attempts: u32,
    /// How often each rule fired.
    pub rules: BTreeMap<String, u32>,
    pub claims: usize,
}

/// The recorder of this process.
pub fn recorder() -> &'static Recorder {
    static RECORDER: OnceLock<Recorder> = OnceLock::new();
    RECORDER.get_or_init(|| Recorder {
        checks: Family::new_with_constructor(seconds),
        lookups: Family::default(),
        answers: Family::default(),
        lock: seconds(),
        database: seconds(),
        answering: Gauge::default(),
        waiting: Gauge::default(),
    })
}

impl Recorder {
    /// Everything in the text format of `OpenMetrics`.
    pub fn text(&self, session: &SessionFigures) -> Result<String, fmt::Error> {
        let mut registry = Registry::with_prefix("comail");
        let quests = Family::<Labels, Gauge>::default();
        for (state, count) in &session.quests {
            let labels = vec![("state", (*state).to_owned())];
            quests.get_or_create(&labels).set(i64::from(*count));
        }
        let rules = Family::<Labels, Gauge>::default();
        for (rule, count) in &session.rules {
            let labels = vec![("rule", rule.clone())];
            rules.get_or_create(&labels).set(i64::from(*count));
        }
        let (attempts, claims) = (Gauge::<i64>::default(), Gauge::<i64>::default());
        attempts.set(i64::from(session.attempts));
        claims.set(i64::try_from(session.claims).unwrap_or(i64::MAX));
        registry.register("quests", "Quests of the session by state", quests);
        registry.register(
            "attempts",
            "Answers that the session has recorded",
            attempts,
        );
        registry.register(
            "rule_fired",
            "Answers of the session by the rules that fired",
            rules,
        );
        registry.register("claims", "Claims that workers hold", claims);
        self.register(&mut registry);
        let mut text = String::new();
        encode(&mut text, &registry)?;
        Ok(text)
    }

    fn register(&self, registry: &mut Registry) {
        let Self {
            checks,
            lookups,
            answers,
            lock,
            database,
            answering,
            waiting,
        } = self;
        for (name, help, histogram) in [
            (
                "lock_wait_seconds",
                "Waits for the lock of the session",
                lock,
            ),
            ("database_seconds", "Database queries", database),
        ] {
            registry.register(name, help, histogram.clone());
        }
        registry.register(
            "check_seconds",
            "Time of each check of the gate",
            checks.clone(),
        );
        registry.register(
            "lookups",
            "Pages and DNS records by outcome",
            lookups.clone(),
        );
        registry.register(
            "answers",
            "Answers judged here, by verdict",
            answers.clone(),
        );
        registry.register(
            "calls_answering",
            "Calls that are being answered",
            answering.clone(),
        );
        registry.register(
            "calls_waiting",
            "Calls that wait for a free place",
            waiting.clone(),
        );
    }
}

/// The fields of a log message that are measured.
#[derive(Debug, Default)]
struct Measured {
    texts: BTreeMap<&'static str, String>,
    millis: BTreeMap<&'static str, u64>,
}

impl Visit for Measured {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.millis.insert(field.name(), value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.texts.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

impl Measured {
    fn seconds(&self, name: &str) -> Option<f64> {
        let millis = *self.millis.get(name)?;
        Some(std::time::Duration::from_millis(millis).as_secs_f64())
    }
}

impl<S: Subscriber> Layer<S> for &'static Recorder {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut measured = Measured::default();
        event.record(&mut measured);
        let text = |name: &str| measured.texts.get(name).cloned();
        if let (Some(check), Some(time)) = (text("check"), measured.seconds("ms")) {
            let labels = vec![("check", check)];
            self.checks.get_or_create(&labels).observe(time);
        } else if let (Some(lookup), Some(outcome)) = (text("lookup"), text("outcome")) {
            let labels = vec![("kind", lookup), ("outcome", outcome)];
            self.lookups.get_or_create(&labels).inc();
        } else if let Some(verdict) = text("verdict") {
            self.answers
                .get_or_create(&vec![("verdict", verdict)])
                .inc();
        } else if let Some(time) = measured.seconds("waited_ms") {
            self.lock.observe(time);
        } else if let Some(time) = measured.seconds("database_ms") {
            self.database.observe(time);
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::registry::Registry as Spans;

    use super::*;

    #[test]
    fn messages_are_counted_and_the_session_is_shown() {
        let subscriber = Spans::default().with(recorder());
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(check = "page-of-test", ms = 20_u64, "checked");
            tracing::info!(lookup = "page-of-test", outcome = "answered", "fetched");
            tracing::info!(verdict = "VERDICT-OF-TEST", "judged");
            tracing::info!(other = "word", "said");
        });
        let figures = SessionFigures {
            quests: vec![("TODO", 3)],
            attempts: 7,
            rules: [("mx".to_owned(), 2)].into(),
            claims: 1,
        };
        let text = recorder().text(&figures).unwrap();
        for line in [
            "comail_quests{state=\"TODO\"} 3",
            "comail_attempts 7",
            "comail_rule_fired{rule=\"mx\"} 2",
            "comail_claims 1",
            "comail_check_seconds_count{check=\"page-of-test\"} 1",
            "comail_lookups_total{kind=\"page-of-test\",outcome=\"answered\"} 1",
            "comail_answers_total{verdict=\"VERDICT-OF-TEST\"} 1",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} in {text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
        assert!(!text.contains("word"), "{text}");
    }
}
