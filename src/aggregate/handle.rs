//! The calls of an aggregate.

use crate::aggregate::exact_sum;
use crate::aggregate::state::{Extreme, Tallies};
use crate::aggregate::{AggregateAnswer, AggregateStateValue, Memories, sizing};
use crate::contract::{Base, Capabilities, Handle, Payload, Structure};
use crate::error::{Result, error};
use crate::handle::image::Image;
use crate::storage::try_vec;
#[cfg(doc)]
use crate::{HashFunction, Status};

/// Sum, mean, maximum, minimum and count of values that change, where each participant counts once, however often it is
/// met (Pournaras, Warnier and Brazier 2013).
///
/// When two participants meet, the *disseminator* tells the *aggregator* its state and value:
///
/// 1. the disseminator [lists](Aggregate::list_sent) the states that it sent to this aggregator before: none before
///    their first meeting, then one;
/// 2. the aggregator [adds](Aggregate::add) the disseminator with its state and value, and with the states that were
///    sent before and their values;
/// 3. the disseminator [records](Aggregate::record_sent) the answer.
///
/// A value belongs to its state: a participant whose value changes takes another state. States are numbers below the
/// parameter `states`. Each participant may give a state any value, but never a second one.
///
/// An id is a byte string, a `u64` or a hash; each call has a form for each of these. At a false-positive rate a new id
/// seems known, and is refused at each meeting; at the same rate a change is taken for a duplicate.
/// [`Aggregate::expected_errors`] has the formulas. Many threads may use shared references at the same time. The calls
/// about the bytes are in [`Image`].
///
/// ```
/// use petal::{Aggregate, AggregateAnswer, Spec, AggregateStateValue};
/// let spec = Spec { kind: Some(petal::aggregate::ROW.kind), capacity: 1000, ..Spec::default() };
/// let mut ours: Aggregate = petal::create_as(&spec)?;
/// let mut theirs: Aggregate = petal::create_as(&spec)?;
/// let (cold, warm) = (AggregateStateValue { state: 0, value: 18.5 }, AggregateStateValue { state: 1, value: 21.0 });
///
/// let answer = ours.add(b"sensor 7", cold, &[])?;
/// theirs.record_sent(b"we", cold.state, Some(answer))?;
/// assert_eq!(ours.add(b"sensor 7", cold, &[cold])?, AggregateAnswer::Duplicate);
///
/// assert_eq!(theirs.list_sent(b"we")?, [0]);
/// assert_eq!(ours.add(b"sensor 7", warm, &[cold])?, AggregateAnswer::Changed { replaced: 0 });
/// assert_eq!((ours.statistics().count, ours.statistics().sum), (1, 21.0));
/// # Ok::<(), petal::Error>(())
/// ```
pub struct Aggregate {
    memories: Memories,
}

impl core::fmt::Debug for Aggregate {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Aggregate").field("results", &self.statistics()).finish_non_exhaustive()
    }
}

impl Image for Aggregate {
    fn payload(&self) -> &dyn Payload {
        &self.memories
    }

    fn payload_mut(&mut self) -> &mut dyn Payload {
        &mut self.memories
    }

    fn over(base: Base) -> Result<Aggregate> {
        match base.row().structure {
            Structure::Own { handle: Handle::Aggregate, .. } => Ok(Aggregate { memories: Memories::open(base)? }),
            _ => Err(base.other_handle(Handle::Aggregate)),
        }
    }
}

/// What is aggregated now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AggregateStatistics {
    /// How many participants are aggregated.
    pub count: u64,
    /// The sum of their values, rounded once to the nearest double. Infinite if no double is that large.
    pub sum: f64,
    /// The exact mean of their values, rounded once. NaN if nobody is aggregated.
    pub mean: f64,
    /// The greatest value, or a bound above all of them: see [`AggregateStatistics::is_maximum_exact`]. NaN if nobody
    /// is aggregated.
    pub maximum: f64,
    /// The least value, or a bound below all of them: see [`AggregateStatistics::is_minimum_exact`]. NaN if nobody is
    /// aggregated.
    pub minimum: f64,
    /// Whether a participant has the maximum. If all who had it changed or left, the maximum is only a bound, until a
    /// participant reaches or passes it again.
    pub is_maximum_exact: bool,
    /// Whether a participant has the minimum.
    pub is_minimum_exact: bool,
    /// An estimate of how many participants have come: those who are aggregated, and those who were refused because
    /// they seemed known. The mean times this estimate is the sum without the bias of false positives.
    pub participants: f64,
    /// How often each outcome occurred.
    pub tallies: Tallies,
}

/// What false positives are expected to cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AggregateExpectedErrors {
    /// The false-positive rate `f(n)` of each memory that has as many entries as there are participants.
    pub false_positive_rate: f64,
    /// How many of the participants are refused when they come, one after the other, because they seem known: `f(0) +
    /// ... + f(n - 1)`. Each of them is refused again at each further meeting. A share `f(n)` of them is taken for a
    /// duplicate instead, because the state seems aggregated too.
    pub refused_firsts: f64,
    /// The relative error of sum and count: `-refused_firsts / n`, if values do not depend on ids. The mean has none.
    pub bias: f64,
    /// The share of changes of aggregated participants that the aggregator takes for duplicates, once everybody has
    /// changed a few times. Of the first changes fewer are missed, from `f(n - refused_firsts)` on. Such a change is
    /// also taken for a duplicate at each further meeting, until other changes free the counters.
    pub missed_changes: f64,
}

impl Aggregate {
    /// Meets the participant with this id, which is in the state `now` and cites what it may have told this aggregator
    /// before: an empty list, or the states that [`Aggregate::list_sent`] gave, each with its value.
    ///
    /// Takes the time of one lookup for each cited state and of two more.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for a state that is not below the parameter `states`, a value that is not finite, or more
    /// previous states than `states`; [`Status::Unsupported`] without an aggregator's memories;
    /// [`Status::UnsupportedByHandle`] if the handle is for reading; [`Status::SecretMissing`]; [`Status::Full`] after
    /// 2^62 meetings. Nothing is changed then.
    #[inline]
    pub fn add(
        &mut self,
        id: impl AsRef<[u8]>,
        now: AggregateStateValue,
        previous: &[AggregateStateValue],
    ) -> Result<AggregateAnswer> {
        self.add_hash(self.hash_of(id.as_ref())?, now, previous)
    }

    /// [`Aggregate::add`] for the hash of an id.
    ///
    /// # Errors
    /// As [`Aggregate::add`].
    pub fn add_hash(
        &mut self,
        hash: u64,
        now: AggregateStateValue,
        previous: &[AggregateStateValue],
    ) -> Result<AggregateAnswer> {
        self.check_aggregator("meet", Capabilities::INSERT)?;
        self.memories.add(hash, now, previous)
    }

    /// Forgets the participant with this id, which is aggregated in the state `now`, and takes its value away. Returns
    /// false, with nothing changed, if the participant is not aggregated in this state.
    ///
    /// # Errors
    /// As [`Aggregate::add`].
    #[inline]
    pub fn remove(&mut self, id: impl AsRef<[u8]>, now: AggregateStateValue) -> Result<bool> {
        self.remove_hash(self.hash_of(id.as_ref())?, now)
    }

    /// [`Aggregate::remove`] for the hash of an id.
    ///
    /// # Errors
    /// As [`Aggregate::add`].
    pub fn remove_hash(&mut self, hash: u64, now: AggregateStateValue) -> Result<bool> {
        self.check_aggregator("let a participant leave", Capabilities::REMOVE)?;
        self.memories.remove(hash, now)
    }

    /// The states that this disseminator told the aggregator with this id, in ascending order: none before their first
    /// meeting, then one. At the false-positive rate the list also has states that were never told. Cite all of them:
    /// the aggregator finds out which one is aggregated. Looks up all states.
    ///
    /// # Errors
    /// [`Status::Unsupported`] without a disseminator's memory; [`Status::SecretMissing`]; [`Status::OutOfMemory`].
    #[inline]
    pub fn list_sent(&self, aggregator: impl AsRef<[u8]>) -> Result<Vec<u32>> {
        self.list_sent_hash(self.hash_of(aggregator.as_ref())?)
    }

    /// [`Aggregate::list_sent`] for the hash of an id.
    ///
    /// # Errors
    /// As [`Aggregate::list_sent`].
    pub fn list_sent_hash(&self, hash: u64) -> Result<Vec<u32>> {
        self.check_disseminator()?;
        let all = || (0..self.memories.layout().states).filter(|state| self.memories.has_sent(hash, *state));
        let mut told = try_vec(all().count())?;
        // Another process may change the image meanwhile, but the list takes no more memory than was reserved.
        let most = told.capacity();
        told.extend(all().take(most));
        Ok(told)
    }

    /// Notes what the aggregator with this id answered when it was told `state`. A first meeting and a change are
    /// noted, and a duplicate and a refusal change nothing. Give `None` if no answer came: the memory then has both
    /// this state and the previous one, and the next meeting shows which of them is aggregated.
    /// [`Aggregate::list_sent`] may go on listing the other state. That does no harm, and [`Aggregate::forget_sent`]
    /// puts an end to it.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for a state that is not below the parameter `states`; [`Status::Unsupported`] without a
    /// disseminator's memory; [`Status::UnsupportedByHandle`] if the handle is for reading; [`Status::SecretMissing`].
    #[inline]
    pub fn record_sent(
        &mut self,
        aggregator: impl AsRef<[u8]>,
        state: u32,
        answer: Option<AggregateAnswer>,
    ) -> Result<()> {
        self.record_sent_hash(self.hash_of(aggregator.as_ref())?, state, answer)
    }

    /// [`Aggregate::record_sent`] for the hash of an id.
    ///
    /// # Errors
    /// As [`Aggregate::record_sent`].
    pub fn record_sent_hash(&mut self, hash: u64, state: u32, answer: Option<AggregateAnswer>) -> Result<()> {
        self.check_disseminator()?;
        self.base().check_capability("tell", Capabilities::INSERT)?;
        self.memories.record_sent(hash, state, answer)
    }

    /// Forgets that the aggregator with this id was told `state`, for an aggregator that left or that lost its
    /// memories. Returns false, with nothing changed, if the aggregator was not told `state`.
    ///
    /// # Errors
    /// As [`Aggregate::record_sent`].
    #[inline]
    pub fn forget_sent(&mut self, aggregator: impl AsRef<[u8]>, state: u32) -> Result<bool> {
        self.forget_sent_hash(self.hash_of(aggregator.as_ref())?, state)
    }

    /// [`Aggregate::forget_sent`] for the hash of an id.
    ///
    /// # Errors
    /// As [`Aggregate::record_sent`].
    pub fn forget_sent_hash(&mut self, hash: u64, state: u32) -> Result<bool> {
        self.check_disseminator()?;
        self.base().check_capability("forget", Capabilities::REMOVE)?;
        self.memories.forget_sent(hash, state)
    }

    /// What is aggregated now. Takes constant time: some microseconds, most of them for the estimate of participants.
    pub fn statistics(&self) -> AggregateStatistics {
        let state = self.memories.state();
        let (count, tallies) = (state.tallies.count(), state.tallies);
        let known = |value: f64| if count == 0 { f64::NAN } else { value };
        let is_exact = |extreme: Extreme| extreme.holders > 0;
        AggregateStatistics {
            count,
            sum: exact_sum::mean(&state.sum, 1),
            mean: known(exact_sum::mean(&state.sum, count)),
            maximum: known(state.maximum.value),
            minimum: known(state.minimum.value),
            is_maximum_exact: is_exact(state.maximum),
            is_minimum_exact: is_exact(state.minimum),
            participants: sizing::participants(self.memories.layout(), count),
            tallies,
        }
    }

    /// How many participants are aggregated with a state. If a state means the same value everywhere, these counts are
    /// the exact distribution of values, and give maximum, minimum and median.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] for a state that is not below the parameter `states`; [`Status::Unsupported`] without an
    /// aggregator's memories.
    pub fn count_in_state(&self, state: u32) -> Result<u64> {
        self.check_role("count the participants of a state", self.memories.layout().aggregates(), "disseminator")?;
        self.memories.check_number(state)?;
        Ok(self.memories.count_in_state(state))
    }

    /// What false positives are expected to cost with this many participants if all of them are met.
    pub fn expected_errors(&self, participants: u64) -> AggregateExpectedErrors {
        let layout = self.memories.layout();
        let refused_firsts = sizing::refused_firsts(layout, participants);
        AggregateExpectedErrors {
            false_positive_rate: layout.rate(participants),
            refused_firsts,
            // Not -0 where nobody is refused.
            bias: if refused_firsts == 0.0 { 0.0 } else { -refused_firsts / participants as f64 },
            missed_changes: sizing::missed_changes(layout, participants),
        }
    }

    /// How many states a participant can have.
    pub fn state_count(&self) -> u32 {
        self.memories.layout().states
    }

    /// Forgets everything: what is aggregated, what was told, and how often each outcome came.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`] if the handle is for reading.
    pub fn clear(&mut self) -> Result<()> {
        self.base().check_capability("clear", Capabilities::CLEAR)?;
        self.memories.clear()
    }

    /// Refuses calls of a role that the aggregate was made without.
    fn check_role(&self, verb: &str, has: bool, other: &str) -> Result<()> {
        match has {
            true => Ok(()),
            false => Err(error!(Unsupported, "an aggregate with roles = {other} cannot {verb}")),
        }
    }

    /// The hash of an id.
    fn hash_of(&self, id: &[u8]) -> Result<u64> {
        self.base().hasher().hash_key(id)
    }

    fn check_aggregator(&self, verb: &str, capability: Capabilities) -> Result<()> {
        self.check_role(verb, self.memories.layout().aggregates(), "disseminator")?;
        self.base().check_capability(verb, capability)
    }

    fn check_disseminator(&self) -> Result<()> {
        self.check_role("say what it told", self.memories.layout().disseminates(), "aggregator")
    }
}
