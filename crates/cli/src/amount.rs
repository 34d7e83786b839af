//! Numbers as people read them.

use entourage_model::{Timestamp, Usage};
use std::time::Duration;

/// `340 tokens`, `12.3k tokens`.
pub(crate) fn tokens(count: u64) -> String {
    match count {
        1 => "1 token".to_owned(),
        0..10_000 => format!("{count} tokens"),
        10_000..1_000_000 => format!("{}.{}k tokens", count / 1000, count % 1000 / 100),
        _ => format!("{}.{}M tokens", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// `340 B`, `12.3 kB`, `200.0 MB`.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1000 => format!("{count} B"),
        1000..1_000_000 => format!("{}.{} kB", count / 1000, count % 1000 / 100),
        _ => format!("{}.{} MB", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// `0.4 s`, `17 s`, `2 min`, `3 h`, `4 d`: the greatest unit that fits.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 10..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// How long ago something was.
pub(crate) fn ago(now: Timestamp, then: Timestamp) -> String {
    format!("{} ago", duration(now.since(then)))
}

pub(crate) fn total(usage: Usage) -> u64 {
    usage.input_tokens + usage.output_tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short_whatever_their_size() {
        assert_eq!(
            [0, 1, 9_999, 12_345, 3_456_789].map(tokens),
            ["0 tokens", "1 token", "9999 tokens", "12.3k tokens", "3.4M tokens"]
        );
        assert_eq!([0, 999, 12_345, 200_000_000].map(bytes), ["0 B", "999 B", "12.3 kB", "200.0 MB"]);
        let times =
            [0.04, 9.96, 12.3, 120.0, 7200.0, 172_800.0].map(|seconds| duration(Duration::from_secs_f64(seconds)));
        assert_eq!(times, ["0.0 s", "10.0 s", "12 s", "2 min", "2 h", "2 d"]);
    }
}
