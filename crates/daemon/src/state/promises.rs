//! Until when a search's client counts on its answer: by the times that the client gave, without the margins
//! that the daemon keeps.

use plyd_protocol::Clock;

/// The times of one search, as [`plyd_core::search::clock::now_ns`] counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Promises {
    /// By its clock.
    pub(super) clock: Option<u64>,
    /// By its limit of time.
    pub(super) limit: Option<u64>,
    /// By `hard_ms`.
    pub(super) watchdog: Option<u64>,
}

impl Promises {
    /// The earliest of them.
    pub(super) fn due_ns(self) -> Option<u64> {
        [self.clock, self.limit, self.watchdog].into_iter().flatten().min()
    }
}

/// When `ms` that began at `base_ns` are over, less what was spent before; none if nothing was left: nobody
/// could keep that promise.
pub(super) fn due_after(base_ns: u64, ms: Option<u64>, spent_ms: u64) -> Option<u64> {
    let left_ms = ms?.checked_sub(spent_ms).filter(|left_ms| *left_ms > 0)?;
    Some(base_ns.saturating_add(left_ms.saturating_mul(1_000_000)))
}

/// The time until the flag of a clock falls.
pub(super) fn until_flag_ms(clock: Option<Clock>) -> Option<u64> {
    let ms = match clock? {
        Clock::None | Clock::Anytime { .. } => return None,
        Clock::PerMove { ms } => ms,
        Clock::Increment { me_ms, .. } => me_ms,
        Clock::Delay { me_ms, delay_ms, .. } => me_ms.saturating_add_unsigned(delay_ms),
        Clock::Bank { turn_ms, bank_ms } => turn_ms.saturating_add(bank_ms),
    };
    u64::try_from(ms).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_due_when_the_first_of_its_times_is_over() {
        let ms = 1_000_000;
        assert_eq!(due_after(7, Some(20), 5), Some(7 + 15 * ms));
        assert_eq!(
            [due_after(7, Some(20), 20), due_after(7, Some(20), 30), due_after(7, None, 0)],
            [None; 3]
        );
        let both = Promises { clock: Some(9), limit: None, watchdog: Some(8) };
        assert_eq!((both.due_ns(), Promises::default().due_ns()), (Some(8), None));
        let delay = Clock::Delay { me_ms: 3, opp_ms: None, delay_ms: 4 };
        assert_eq!(until_flag_ms(Some(delay)), Some(7));
        assert_eq!(until_flag_ms(Some(Clock::Bank { turn_ms: 3, bank_ms: 40 })), Some(43));
        assert_eq!(until_flag_ms(Some(Clock::PerMove { ms: -1 })), None);
        assert_eq!(until_flag_ms(None), None);
    }
}
