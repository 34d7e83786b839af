//! How long a provider asks to be left alone: `Retry-After` in its two forms, and `retry-after-ms`.

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use std::time::Duration;

/// Nothing where the provider did not say, or said what cannot be read.
pub(super) fn read(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|value| value.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let value = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = moment(value)?;
    // The provider's own clock, where it shows it: ours may be wrong.
    let now = text(DATE.as_str()).and_then(moment).unwrap_or_else(wall_clock);
    Some(Duration::try_from(until.duration_since(now)).unwrap_or_default())
}

fn moment(text: &str) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(text).ok()
}

#[expect(clippy::disallowed_methods, reason = "the one door for the wall clock: no other code here asks for it")]
fn wall_clock() -> Timestamp {
    Timestamp::try_from(std::time::SystemTime::now()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(headers: &[(&str, &str)], wait: Option<u64>) {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        assert_eq!(read(&HeaderMap::from_iter(headers)), wait.map(Duration::from_millis));
    }

    #[test]
    fn every_form_of_the_wish_is_read() {
        check(&[], None);
        check(&[("retry-after", "3")], Some(3_000));
        check(&[("retry-after", "0.25")], Some(250));
        check(&[("retry-after", "3"), ("retry-after-ms", "40")], Some(40));
        check(&[("retry-after", "-1")], None);
        check(&[("retry-after", "soon")], None);
        check(&[("retry-after", "1e300")], None);
    }

    #[test]
    fn a_date_counts_from_the_clock_of_the_provider() {
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        check(&[("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"), date], Some(10_000));
        check(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), date], Some(0));
        // Without one the wall clock counts, which is long past that moment.
        check(&[("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT")], Some(0));
    }
}
