//! Processors that initialise a register block from afar: every order of what they do.

use session_management::attribute::{Attribute, Attributes};
use session_management::initialise::{Access, End, Initialiser, Work};
use session_management::message::Mode;
use session_management::register::{Block, Contact, Participation, UNLOCKED, Writer, offset, read_block};
use std::collections::BTreeSet;

const CONTACT: Contact = Contact::Mailbox(5);
const A: u16 = 0x0011;
const B: u16 = 0x0022;
const C: u16 = 0x0033;

fn periods() -> Attributes {
    [Attribute::retry_period(100), Attribute::timeout_period(300)].into_iter().collect()
}

/// Everything in one stage.
fn whole() -> Work {
    Work { stage: 1, next: 0, contact: Some(CONTACT), attributes: periods() }
}

/// The contact first, the periods in the stage after.
fn halves() -> [Work; 2] {
    [
        Work { stage: 1, next: 2, contact: Some(CONTACT), attributes: Attributes::new() },
        Work { stage: 2, next: 0, contact: None, attributes: periods() },
    ]
}

/// A block in stage 1.
fn block(max: u8) -> Block {
    let mut block = Block::new(0, max);
    block.write(Writer::Local, offset::ATTRIBUTE_RANGE, 0x1FF);
    block
}

fn carry_out(block: &mut Block, access: Access) -> u32 {
    match access.write {
        Some(word) => {
            block.write(Writer::Fabric, access.offset, word);
            0
        }
        None => block.read(access.offset),
    }
}

/// One processor alone; what it has asked for.
fn alone(block: &mut Block, machine: &mut Initialiser) -> Vec<Access> {
    let mut asked = Vec::new();
    while let Some(access) = machine.poll_transmit() {
        let word = carry_out(block, access);
        machine.handle_done(word);
        asked.push(access);
        assert!(asked.len() < 100, "{machine:?}");
    }
    asked
}

fn assert_complete(block: &Block) {
    let reading = read_block(|offset| block.read(offset), Mode::Validation);
    assert_eq!(reading.participation, Participation::Ready(CONTACT));
    assert_eq!((reading.attributes, reading.reports), (periods(), Vec::new()));
}

/// Ten accesses and two for each attribute, one for the contact: the stage, the lock read, written and read,
/// the stage again, words, their count with the end of the stage, that once more, and the lock given back and
/// read.
///
/// Proves: SMP-3.2-3, SMP-3.2-5, SMP-5.2.2-1, SMP-5.2.3-4
#[test]
fn one_processor_does_it_all() {
    let mut block = block(8);
    let mut machine = Initialiser::new(A, whole()).unwrap();
    let read = |offset| Access { offset, write: None };
    let write = |offset, word| Access { offset, write: Some(word) };
    let law = [
        read(0xC),
        read(0x4),
        write(0x4, 0x11),
        read(0x4),
        read(0xC),
        write(0x10, 0xF000_0000),
        write(0x14, 100),
        write(0x18, 0xF000_0001),
        write(0x1C, 300),
        write(0x8, 5),
        write(0xC, 0x002),
        read(0xC),
        write(0x4, 0x11),
        read(0x4),
    ];
    assert_eq!(alone(&mut block, &mut machine), law);
    assert_eq!((machine.end(), block.lock()), (Some(End::Done), UNLOCKED));
    assert_complete(&block);
    // Who comes later looks once, and writes nothing.
    let mut late = Initialiser::new(B, whole()).unwrap();
    assert_eq!(alone(&mut block, &mut late), [read(0xC)]);
    assert_eq!(late.end(), Some(End::Past(0)));
}

/// The processor of the device says where it takes messages; another one adds the periods in the next stage.
/// Until then readers find a stage, and no contact.
///
/// Proves: SMP-3.2-3, SMP-3.2-6, SMP-5.2.4-5, SMP-5.2.5-1
#[test]
fn stages_come_one_after_the_other() {
    let [first, second] = halves();
    let mut block = block(8);
    let mut early = Initialiser::new(B, second.clone()).unwrap();
    assert_eq!(alone(&mut block, &mut early).len(), 1, "it does not take a lock before its turn");
    assert_eq!((early.end(), block.lock()), (Some(End::Early(1)), UNLOCKED));
    let mut machine = Initialiser::new(A, first).unwrap();
    alone(&mut block, &mut machine);
    assert_eq!(machine.end(), Some(End::Done));
    assert_eq!(block.read(offset::ATTRIBUTE_RANGE), 0x0008_02FF, "no attributes yet");
    let reading = read_block(|offset| block.read(offset), Mode::Validation);
    assert_eq!(reading.participation, Participation::Initialising(2));
    let mut machine = Initialiser::new(B, second).unwrap();
    alone(&mut block, &mut machine);
    assert_eq!(machine.end(), Some(End::Done));
    assert_complete(&block);
    // Fifteen stages can be told apart; 0 is none that one can do.
    let work = |stage, next| Work { stage, next, ..whole() };
    assert!(Initialiser::new(A, work(15, 0)).is_some());
    assert!(Initialiser::new(A, work(0, 1)).is_none());
    assert!(Initialiser::new(A, work(16, 0)).is_none());
    assert!(Initialiser::new(A, work(15, 16)).is_none());
    assert!(Initialiser::new(UNLOCKED, whole()).is_none(), "0xFFFF locks nothing");
}

/// Attributes of two stages lie one after the other; those for which there is no room are not written at all.
///
/// Proves: SMP-5.2.4-1, SMP-5.2.4-4
#[test]
fn attributes_are_added() {
    let one = |stage, next, attribute| {
        let attributes = [attribute].into_iter().collect();
        Work { stage, next, contact: (stage == 1).then_some(CONTACT), attributes }
    };
    let [retry, timeout] = [Attribute::retry_period(100), Attribute::timeout_period(300)];
    for max in [2, 1] {
        let mut block = block(max);
        for (own, work) in [(A, one(1, 2, retry)), (B, one(2, 0, timeout))] {
            let last = work.next == 0;
            let mut machine = Initialiser::new(own, work).unwrap();
            alone(&mut block, &mut machine);
            let full = End::NoRoom { wanted: 2, max };
            assert_eq!(machine.end(), Some(if last && max == 1 { full } else { End::Done }));
            assert_eq!(block.lock(), UNLOCKED);
        }
        match max {
            2 => assert_complete(&block),
            _ => assert_eq!(block.read(offset::ATTRIBUTE_RANGE), 0x0001_0201),
        }
    }
}

/// An access of a processor on its way.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Flight {
    access: Access,
    /// Times that it will still be carried out: more than once, if the requester repeats it.
    copies: u8,
    /// What the device has answered; the answer that counts is any of these.
    answers: Vec<u32>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Processor {
    machine: Initialiser,
    flight: Option<Flight>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct World {
    block: Block,
    processors: Vec<Processor>,
    /// Accesses that may still be carried out twice, and that may still go without an answer.
    repeats: u8,
    failures: u8,
}

impl World {
    fn new(works: &[(u16, Work)], repeats: u8, failures: u8) -> Self {
        let processor = |(own, work): &(u16, Work)| {
            let machine = Initialiser::new(*own, work.clone()).unwrap();
            Processor { machine, flight: None }
        };
        World { block: block(8), processors: works.iter().map(processor).collect(), repeats, failures }
    }

    /// Everything that can happen next.
    fn next(&self) -> Vec<World> {
        let mut next = Vec::new();
        for at in 0..self.processors.len() {
            let Processor { machine, flight } = &self.processors[at];
            let mut with = |change: &dyn Fn(&mut World)| {
                let mut world = self.clone();
                change(&mut world);
                next.push(world);
            };
            match flight {
                None => {
                    let mut machine = machine.clone();
                    let Some(access) = machine.poll_transmit() else { continue };
                    for copies in 1..=1 + self.repeats.min(1) {
                        with(&|world| {
                            world.repeats -= copies - 1;
                            let flight = Some(Flight { access, copies, answers: Vec::new() });
                            world.processors[at] = Processor { machine: machine.clone(), flight };
                        });
                    }
                    if self.failures > 0 {
                        // It never arrives.
                        with(&|world| {
                            world.failures -= 1;
                            let mut machine = machine.clone();
                            machine.handle_failure();
                            world.processors[at] = Processor { machine, flight: None };
                        });
                    }
                }
                Some(Flight { copies: 0, answers, .. }) => {
                    for &word in answers.iter().collect::<BTreeSet<_>>() {
                        with(&|world| {
                            world.processors[at].flight = None;
                            world.processors[at].machine.handle_done(word);
                        });
                    }
                    if self.failures > 0 {
                        // The answer never arrives.
                        with(&|world| {
                            world.failures -= 1;
                            world.processors[at].flight = None;
                            world.processors[at].machine.handle_failure();
                        });
                    }
                }
                Some(_) => with(&|world| {
                    let flight = world.processors[at].flight.as_mut().unwrap();
                    flight.copies -= 1;
                    flight.answers.push(carry_out(&mut world.block, flight.access));
                }),
            }
        }
        next
    }

    fn holders(&self) -> usize {
        self.processors.iter().filter(|processor| processor.machine.holds()).count()
    }

    fn ends(&self) -> Vec<End> {
        self.processors.iter().filter_map(|processor| processor.machine.end()).collect()
    }
}

/// Looks at every state once; how many there are, and those in which nothing can happen any more.
fn explore(first: World, mut look: impl FnMut(&World)) -> (usize, Vec<World>) {
    // A state is known by its words: what it is made of has no order.
    let name = |world: &World| format!("{world:?}");
    let (mut seen, mut open, mut last) = (BTreeSet::from([name(&first)]), vec![first], Vec::new());
    while let Some(world) = open.pop() {
        look(&world);
        let next = world.next();
        if next.is_empty() {
            last.push(world);
            continue;
        }
        open.extend(next.into_iter().filter(|world| seen.insert(name(world))));
    }
    (seen.len(), last)
}

/// Lets those that have to come again do so, one after the other.
fn settle(world: &World, works: &[(u16, Work)]) -> Block {
    let mut block = world.block.clone();
    for _ in 0..works.len() {
        for (own, work) in works {
            alone(&mut block, &mut Initialiser::new(*own, work.clone()).unwrap());
        }
    }
    block
}

/// Whatever the order in which two processors read and write, and although an access or two are carried out
/// twice: never do both count the lock as theirs, who does has its value in the register, one does the stage
/// and the other writes nothing, and nobody leaves the lock behind. Who found the lock with another comes
/// again and finds the block complete.
///
/// Proves: SMP-3.2-4, SMP-3.2-5
#[test]
fn exactly_one_wins_the_lock() {
    let works = [(A, whole()), (B, whole())];
    let mut outcomes = BTreeSet::new();
    for repeats in 0..=2 {
        let (_, last) = explore(World::new(&works, repeats, 0), |world| {
            assert!(world.holders() <= 1, "{world:?}");
            let mut holders = works.iter().zip(&world.processors);
            if let Some(((own, _), _)) = holders.find(|(_, processor)| processor.machine.holds()) {
                assert_eq!(world.block.lock(), *own, "{world:?}");
            }
        });
        for world in last {
            let ends = world.ends();
            assert_eq!(ends.iter().filter(|end| **end == End::Done).count(), 1, "{world:?}");
            assert_eq!(world.block.lock(), UNLOCKED, "{world:?}");
            assert_complete(&world.block);
            outcomes.extend(ends.iter().map(|end| format!("{end:?}")));
        }
    }
    let law = ["Beaten(17)", "Beaten(34)", "Done", "Locked(17)", "Locked(34)", "Past(0)"];
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), law);
}

/// Three of them, two of which want the same stage: each stage is done once, in its turn.
///
/// Proves: SMP-3.2-6
#[test]
fn three_processors_and_two_stages() {
    let [first, second] = halves();
    let works = [(A, first.clone()), (B, first), (C, second)];
    let (states, last) = explore(World::new(&works, 0, 0), |world| {
        assert!(world.holders() <= 1, "{world:?}");
    });
    assert!(states > 1_000, "{states}");
    for world in last {
        assert_eq!(world.block.lock(), UNLOCKED, "{world:?}");
        let done = world.ends()[..2].iter().filter(|end| **end == End::Done).count();
        let later = world.ends()[2] == End::Done;
        // That of the second stage may have the lock, or be told that another has it, only when the first is
        // done.
        assert_eq!(done, 1, "{world:?}");
        let stage = if later { 0 } else { 2 };
        assert_eq!(world.block.read(offset::ATTRIBUTE_RANGE) >> 8 & 0xF, stage, "{world:?}");
        assert_complete(&settle(&world, &works));
    }
}

/// Two processors that lock with one value do not see each other: both count the lock as theirs, and one
/// frees it while the other writes. That one learns it from the last word, which is not what it has written.
///
/// Proves: SMP-5.2.2-5
#[test]
fn one_value_locks_for_nobody() {
    let works = [(A, whole()), (A, whole())];
    let (mut both, mut undone) = (0, 0);
    let (_, last) = explore(World::new(&works, 0, 0), |world| {
        both += usize::from(world.holders() == 2);
        undone += usize::from(world.ends().contains(&End::Undone));
    });
    assert!(both > 0 && undone > 0, "{both} {undone}");
    assert!(last.iter().any(|world| !world.ends().contains(&End::Done)), "nobody has done it");
}

/// A processor that gets no answer leaves the lock behind, if it had it. Others respect that for ever; when
/// it comes again it finds its own value, goes on where something is left to do, and frees the lock.
///
/// Proves: SMP-3.2-4
#[test]
fn a_lock_left_behind_is_respected() {
    let works = [(A, whole()), (B, whole())];
    let (mut left, mut completed) = (0, 0);
    let (_, last) = explore(World::new(&works, 0, 1), |world| assert!(world.holders() <= 1, "{world:?}"));
    for world in last {
        if world.block.lock() == UNLOCKED {
            continue;
        }
        left += 1;
        let other = if world.block.lock() == A { B } else { A };
        let mut block = world.block.clone();
        let before = block.clone();
        let complete = block.read(offset::ATTRIBUTE_RANGE) >> 8 & 0xF == 0;
        let mut machine = Initialiser::new(other, whole()).unwrap();
        alone(&mut block, &mut machine);
        let law = if complete { End::Past(0) } else { End::Locked(world.block.lock()) };
        assert_eq!((machine.end(), &block), (Some(law), &before), "it writes nothing");
        let owner = works.iter().position(|(own, _)| *own == world.block.lock()).unwrap();
        let mut machine = world.processors[owner].machine.clone();
        machine.begin_again();
        alone(&mut block, &mut machine);
        let law = if complete { End::Past(0) } else { End::Done };
        assert_eq!((machine.end(), block.lock()), (Some(law), UNLOCKED));
        assert_complete(&block);
        completed += usize::from(complete);
    }
    assert!(0 < completed && completed < left, "{completed} of {left}");
}
