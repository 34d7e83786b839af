//! Asking again when what failed may pass: a bounded number of times, at moments that nobody else shares.

use super::trouble::Trouble;
use entourage_bundle::Fault;
use std::time::Duration;

/// The longest pause that we make on our own account.
const PAUSE_MAX: Duration = Duration::from_secs(20);
/// The longest that a registry may ask us to wait. Whoever asks for more is not waited for at all.
pub(super) const ASKED_PAUSE_MAX: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How often a request is made, the first time included.
    pub attempts_max: u32,
    /// About how long the first pause is; each further one is twice as long.
    pub first_pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { attempts_max: 4, first_pause: Duration::from_millis(200) }
    }
}

impl Patience {
    /// Tries until it works, or fails for good, or patience ends.
    pub(super) async fn persist<T>(self, mut attempt: impl AsyncFnMut() -> Result<T, Trouble>) -> Result<T, Fault> {
        for failed in 1.. {
            let trouble = match attempt().await {
                Ok(done) => return Ok(done),
                Err(trouble) => trouble,
            };
            let is_far_off = trouble.pause.is_some_and(|asked| asked > ASKED_PAUSE_MAX);
            if !trouble.may_pass || is_far_off || failed >= self.attempts_max {
                return Err(*trouble.fault);
            }
            let pause = self.pause(failed, trouble.pause, fastrand::f64());
            tracing::debug!(failed, ?pause, fault = ?trouble.fault, "asking the registry again");
            tokio::time::sleep(pause).await;
        }
        unreachable!("somebody's patience ends")
    }

    /// Between half and all of the time that is due, so that many who failed together do not come back together. What
    /// the registry asks for is granted.
    fn pause(self, failed: u32, asked: Option<Duration>, dice: f64) -> Duration {
        let due = self.first_pause.saturating_mul(1 << (failed - 1).min(10));
        let pause = due.mul_f64(0.5 + dice / 2.0).min(PAUSE_MAX);
        asked.map_or(pause, |asked| asked.max(pause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_bundle::Exit;
    use entourage_model::Report;

    const QUICK: Patience = Patience { attempts_max: 3, first_pause: Duration::from_micros(1) };

    fn trouble(may_pass: bool) -> Trouble {
        let fault = Fault::new(Exit::Network, Report::error("B040", "down"));
        Trouble { may_pass, ..Trouble::from(fault) }
    }

    async fn tries(patience: Patience, outcomes: &[Result<(), bool>]) -> (usize, bool) {
        let mut made = 0;
        let done = patience
            .persist(async || {
                made += 1;
                outcomes[made - 1].map_err(trouble)
            })
            .await;
        (made, done.is_ok())
    }

    #[tokio::test]
    async fn what_may_pass_is_tried_again_and_nothing_else() {
        let cases = [
            (vec![Ok(())], (1, true)),
            (vec![Err(true), Err(true), Ok(())], (3, true)),
            (vec![Err(true), Err(true), Err(true), Ok(())], (3, false)),
            (vec![Err(false), Ok(())], (1, false)),
        ];
        for (outcomes, expected) in cases {
            assert_eq!(tries(QUICK, &outcomes).await, expected, "{outcomes:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_registry_that_asks_for_a_long_pause_is_not_waited_for() {
        for (asked, attempts, waited) in [(60, 3, 120), (61, 1, 0), (3600, 1, 0)] {
            let (mut made, start) = (0, tokio::time::Instant::now());
            let done: Result<(), _> = QUICK
                .persist(async || {
                    made += 1;
                    Err(Trouble { pause: Some(Duration::from_secs(asked)), ..trouble(true) })
                })
                .await;
            assert!(done.is_err());
            assert_eq!((made, start.elapsed().as_secs()), (attempts, waited), "{asked}");
        }
    }

    #[test]
    fn pauses_grow_and_never_pass_their_bound() {
        let patience = Patience { attempts_max: 40, first_pause: Duration::from_millis(100) };
        assert_eq!(patience.pause(1, None, 0.0), Duration::from_millis(50));
        assert_eq!(patience.pause(1, None, 1.0), Duration::from_millis(100));
        assert_eq!(patience.pause(3, None, 1.0), Duration::from_millis(400));
        assert_eq!(patience.pause(1, Some(Duration::from_secs(2)), 1.0), Duration::from_secs(2));
        assert_eq!(patience.pause(1, Some(ASKED_PAUSE_MAX), 1.0), ASKED_PAUSE_MAX);
        assert_eq!(patience.pause(39, None, 1.0), PAUSE_MAX);
    }
}
