//! Reads, writes and maintenance between a requester and a responder.

use crate::common::hex;
use logical::engine::io::requester::{Counters, Event, Failure, Options, Order, Requester, Transmit};
use logical::engine::io::responder::{Fault, Target};
use logical::engine::io::{Memory, serve};
use logical::register::file::{Description, Identity, Role, Streaming};
use logical::register::{RegisterFile, Words, offset};
use logical::wire::address::{Address, Span};
use logical::wire::doorbell::Doorbell;
use logical::wire::maintenance::{Access, HOP_COUNT_MAX, Maintenance, Operation as Register};
use logical::wire::read::{Operation as ReadOperation, Read};
use logical::wire::response::{Response, Status};
use logical::wire::stream_write::StreamWrite;
use logical::wire::transport::{Priority, Transport};
use logical::wire::write::{Operation as WriteOperation, Write};
use logical::wire::{Body, Error, Extent, Packet};
use lp_serial::IdSize;
use lp_serial::cost::AddressSize;
use proptest::prelude::*;

type Data = Vec<u8>;

const HOST: u32 = 1;
const DEVICE: u32 = 2;
const TIMEOUT: u64 = 1000;

fn options() -> Options {
    Options { response_timeout: TIMEOUT, ..Options::default() }
}

fn prio(prio: u8) -> Priority {
    Priority::new(prio, false).unwrap()
}

fn address(byte: u64) -> Address {
    Address::new(AddressSize::Bits34, byte / 8).unwrap()
}

fn read(byte: u64, lane: u8, octets: u16) -> Body<Data> {
    let span = Span::read(lane, octets).unwrap();
    Body::Read(Read::new(ReadOperation::Nread, 0, address(byte), span).unwrap())
}

fn atomic(operation: ReadOperation, byte: u64, lane: u8, octets: u16) -> Body<Data> {
    let span = Span::read(lane, octets).unwrap();
    Body::Read(Read::new(operation, 0, address(byte), span).unwrap())
}

fn write(operation: WriteOperation, byte: u64, lane: u8, octets: u16, data: &[u8]) -> Body<Data> {
    let span = Span::write(lane, octets).unwrap();
    Body::Write(Write::new(operation, 0, address(byte), span, data.to_vec()).unwrap())
}

fn maintenance(operation: Register<Data>) -> Body<Data> {
    Body::Maintenance(Maintenance::new(HOP_COUNT_MAX, operation).unwrap())
}

fn read_register(offset: u32) -> Body<Data> {
    maintenance(Register::Read { src_tid: 0, access: Access::register(offset).unwrap() })
}

fn order(token: u64, body: Body<Data>) -> Order<Data> {
    Order { destination: DEVICE, priority: prio(0), body, token }
}

fn done(token: u64, data: Option<&[u8]>) -> Event<Data> {
    Event::Done { token, data: data.map(<[u8]>::to_vec) }
}

fn failed(token: u64, cause: Failure) -> Event<Data> {
    Event::Failed { token, cause }
}

/// A device with 16 double-words of memory from 0x1000 on, and registers.
struct Endpoint {
    memory: Memory,
    registers: RegisterFile,
    reports: Vec<(u32, Data)>,
}

impl Endpoint {
    fn new() -> Self {
        let registers = RegisterFile::new(Description {
            identity: Identity { device: 0x1234, vendor: 0x38, ..Identity::default() },
            role: Role::Endpoint { base_id: DEVICE as u8, large_base_id: 0 },
            features: 0,
            source_operations: 0,
            destination_operations: 0,
            streaming: Streaming::default(),
            blocks: Vec::new(),
        });
        Self { memory: Memory::new(0x200, 16), registers: registers.unwrap(), reports: Vec::new() }
    }

    /// Carries packets both ways until nobody has one.
    fn exchange(&mut self, requester: &mut Requester<Data>, now: u64) {
        while let Some(transmit) = requester.poll_transmit(now) {
            if let Some(response) = serve(packet(transmit), self) {
                deliver(requester, response);
            }
        }
    }
}

fn packet(transmit: Transmit<Data>) -> Packet<Data> {
    let Transmit { destination, priority, body, .. } = transmit;
    Packet { transport: Transport::new(priority, IdSize::Dev8, destination, HOST).unwrap(), body }
}

fn deliver(requester: &mut Requester<Data>, packet: Packet<Data>) {
    assert_eq!(packet.transport.destination(), HOST);
    let source = packet.transport.source();
    match packet.body {
        Body::Response(response) => requester.handle_response(source, response),
        Body::Maintenance(maintenance) => requester.handle_maintenance(source, maintenance.into_operation()),
        other => panic!("{other:?}"),
    }
}

impl Target<Data> for Endpoint {
    fn read(&mut self, address: Address, span: Span) -> Result<Data, Fault> {
        self.memory.read(address, span)
    }

    fn write(&mut self, address: Address, span: Span, data: Data) -> Result<(), Fault> {
        self.memory.write(address, span, data)
    }

    fn atomic(
        &mut self,
        address: Address,
        span: Span,
        operation: logical::engine::io::responder::Atomic<Data>,
    ) -> Result<Data, Fault> {
        self.memory.atomic(address, span, operation)
    }

    fn read_registers(&mut self, access: Access) -> Result<Data, Fault> {
        Ok(self.registers.read_words(access, 0, &()).as_ref().to_vec())
    }

    fn write_registers(&mut self, access: Access, data: Data) -> Result<(), Fault> {
        self.registers.write_words(access, &data, &mut ());
        Ok(())
    }

    fn port_write(&mut self, source: u32, data: Data) {
        self.reports.push((source, data));
    }
}

fn events(requester: &mut Requester<Data>) -> Vec<Event<Data>> {
    std::iter::from_fn(|| requester.poll_event()).collect()
}

/// One request after another to a fresh device; what each ended with.
fn run(bodies: impl IntoIterator<Item = Body<Data>>) -> (Vec<Event<Data>>, Endpoint) {
    let (mut requester, mut device) = (Requester::new(options()), Endpoint::new());
    for (token, body) in (0..).zip(bodies) {
        requester.submit(order(token, body)).unwrap();
    }
    device.exchange(&mut requester, 0);
    assert_eq!((requester.active(), requester.poll_timeout()), (0, None));
    (events(&mut requester), device)
}

#[test]
fn what_is_written_is_read() {
    let data: Vec<u8> = (0..64).collect();
    let (events, device) = run([
        write(WriteOperation::NwriteR, 0x1000, 0, 64, &data),
        write(WriteOperation::Nwrite, 0x1040, 5, 3, &[9, 9, 9, 9, 9, 0xA, 0xB, 0xC]),
        Body::StreamWrite(StreamWrite::new(address(0x1048), vec![7; 24]).unwrap()),
        read(0x1000, 0, 96),
        read(0x1000, 3, 1),
        // Less data than was announced.
        write(WriteOperation::NwriteR, 0x1000, 0, 256, &[8; 16]),
        read(0x1008, 0, 16),
    ]);
    let memory = [&data[..], &[0, 0, 0, 0, 0, 0xA, 0xB, 0xC], &[7; 24]].concat();
    let expected = [
        // Requests without a response end when they are sent; the first answers come at once, too.
        done(0, None),
        done(1, None),
        done(2, None),
        done(3, Some(&memory)),
        done(4, Some(&data[..8])),
        done(5, None),
        done(6, Some(&[&[8; 8], &data[16..24]].concat())),
    ];
    assert_eq!(events, expected);
    assert_eq!(device.memory.bytes()[..16], [8; 16]);
}

#[test]
fn atomic_operations_return_the_old_value() {
    let start = hex("00000001 FFFF00FE");
    let at = 0x1000;
    let with = |operation, lane, octets, data: &str| write(operation, at, lane, octets, &hex(data));
    // (request, memory before, memory after)
    let cases = [
        (atomic(ReadOperation::Increment, at, 0, 4), "00000002 FFFF00FE"),
        (atomic(ReadOperation::Decrement, at, 0, 1), "FF000001 FFFF00FE"),
        (atomic(ReadOperation::Increment, at, 4, 2), "00000001 000000FE"),
        (atomic(ReadOperation::Increment, at, 4, 4), "00000001 FFFF00FF"),
        (atomic(ReadOperation::Set, at, 2, 2), "0000FFFF FFFF00FE"),
        (atomic(ReadOperation::Clear, at, 7, 1), "00000001 FFFF0000"),
        (with(WriteOperation::Swap, 4, 4, "11111111 22222222"), "00000001 22222222"),
        (with(WriteOperation::TestAndSwap, 0, 2, "33333333 44444444"), "33330001 FFFF00FE"),
        (with(WriteOperation::TestAndSwap, 0, 4, "33333333 44444444"), "00000001 FFFF00FE"),
        (
            with(WriteOperation::CompareAndSwap, 0, 16, "00000001FFFF00FE 5555555566666666"),
            "55555555 66666666",
        ),
        (
            with(WriteOperation::CompareAndSwap, 0, 16, "00000000FFFF00FE 5555555566666666"),
            "00000001 FFFF00FE",
        ),
    ];
    for (request, after) in cases {
        let text = request.to_string();
        let (events, device) = run([write(WriteOperation::Nwrite, at, 0, 8, &start), request]);
        assert_eq!(events, [done(0, None), done(1, Some(&start))], "{text}");
        assert_eq!(device.memory.bytes()[..8], hex(after), "{text}");
    }
}

#[test]
fn what_a_device_does_not_have_is_answered_by_error() {
    let outside = [
        read(0xFF8, 0, 8),
        read(0x1078, 0, 16),
        write(WriteOperation::NwriteR, 0x1080, 0, 8, &[0; 8]),
        atomic(ReadOperation::Set, 0x1080, 0, 4),
        write(WriteOperation::Swap, 0x1080, 0, 4, &[0; 8]),
        write(WriteOperation::CompareAndSwap, 0x1080, 0, 16, &[0; 16]),
    ];
    let count = outside.len() as u64;
    let (events, _) = run(outside);
    let expected: Vec<_> = (0..count).map(|token| failed(token, Failure::ErrorResponse)).collect();
    assert_eq!(events, expected);

    // A device that has nothing.
    struct Nothing;
    impl Target<Data> for Nothing {}
    for body in [
        read(0, 0, 8),
        atomic(ReadOperation::Set, 0, 0, 4),
        write(WriteOperation::NwriteR, 0, 0, 8, &[0; 8]),
        write(WriteOperation::Swap, 0, 0, 4, &[0; 8]),
        read_register(0),
        maintenance(Register::Write {
            src_tid: 0,
            access: Access::register(0).unwrap(),
            payload: vec![0; 8],
        }),
    ] {
        let request = packet(Transmit { destination: DEVICE, priority: prio(1), body, token: 0 });
        let response = serve(request, &mut Nothing).unwrap();
        assert_eq!(response.transport.priority(), prio(2));
        let is_error = match response.body {
            Body::Response(response) => response.status() == Status::Error,
            Body::Maintenance(maintenance) => matches!(
                maintenance.operation(),
                Register::ReadError { target_tid: 0 } | Register::WriteError { target_tid: 0 }
            ),
            _ => false,
        };
        assert!(is_error);
    }
}

#[test]
fn requests_without_response_have_none_even_if_they_fail() {
    let mut device = Endpoint::new();
    for body in [
        write(WriteOperation::Nwrite, 0, 0, 8, &[0; 8]),
        Body::StreamWrite(StreamWrite::new(address(0), vec![7; 24]).unwrap()),
        maintenance(Register::PortWrite { octets: 16, payload: vec![1; 16] }),
        // No requests of this engine at all.
        Body::Doorbell(Doorbell { src_tid: 0, info: 0 }),
        Body::Response(Response::Io { target_tid: 0, status: Status::Done }),
        maintenance(Register::ReadError { target_tid: 0 }),
    ] {
        let request = packet(Transmit { destination: DEVICE, priority: prio(0), body, token: 0 });
        assert_eq!(serve(request, &mut device), None);
    }
    assert_eq!(device.reports, [(HOST, vec![1; 16])]);
}

#[test]
fn registers_are_reached_by_maintenance() {
    let tag = Access::register(offset::COMPONENT_TAG).unwrap();
    let (events, device) = run([
        read_register(offset::DEVICE_IDENTITY),
        maintenance(Register::Write {
            src_tid: 0,
            access: tag,
            payload: Words::register(tag, 0x0102_0304).as_ref().to_vec(),
        }),
        read_register(offset::COMPONENT_TAG),
        maintenance(Register::Read { src_tid: 0, access: Access::new(0x68, 8).unwrap() }),
    ]);
    let expected = [
        done(0, Some(&[0x12, 0x34, 0, 0x38, 0, 0, 0, 0])),
        done(1, None),
        done(2, Some(&[0, 0, 0, 0, 1, 2, 3, 4])),
        done(3, Some(&[0, 0, 0xFF, 0xFF, 1, 2, 3, 4])),
    ];
    assert_eq!(events, expected);
    assert_eq!(device.registers.component_tag(), 0x0102_0304);
}

#[test]
fn a_maintenance_response_has_hop_count_255_and_reversed_ids() {
    let request =
        packet(Transmit { destination: DEVICE, priority: prio(0), body: read_register(0), token: 0 });
    let response = serve(request, &mut Endpoint::new()).unwrap();
    assert_eq!((response.transport.destination(), response.transport.source()), (HOST, DEVICE));
    let Body::Maintenance(response) = response.body else { panic!("maintenance") };
    assert_eq!(response.hop_count(), 255);
}

#[test]
fn a_switch_counts_hops_and_takes_what_has_none_left() {
    let request = |hops| {
        let operation = Register::<Data>::Read { src_tid: 0, access: Access::register(0).unwrap() };
        Maintenance::new(hops, operation).unwrap()
    };
    assert_eq!(request(2).forwarded(), Some(request(1)));
    assert_eq!(request(1).forwarded(), Some(request(0)));
    assert_eq!(request(0).forwarded(), None);
}

#[test]
fn transaction_ids_are_given_in_turn_and_only_once_at_a_time() {
    let options = Options { first_tid: 10, last_tid: 12, ..options() };
    let mut requester = Requester::new(options);
    for token in 0..5 {
        requester.submit(order(token, read(0x1000, 0, 8))).unwrap();
    }
    let tid = |requester: &mut Requester<Data>| {
        requester.poll_transmit(0).map(|transmit| match transmit.body {
            Body::Read(read) => read.src_tid(),
            other => panic!("{other:?}"),
        })
    };
    let sent = [(); 4].map(|()| tid(&mut requester));
    assert_eq!(sent, [Some(10), Some(11), Some(12), None]);
    assert!(!requester.wants_transmit() && requester.owns(10) && !requester.owns(9) && !requester.owns(13));
    // 11 becomes free, and later 10: the one after the last that was given comes first.
    for (free, expected) in [(11, 11), (10, 10)] {
        requester.handle_response(DEVICE, Response::Data { target_tid: free, payload: vec![0; 8] });
        assert!(requester.wants_transmit());
        assert_eq!(tid(&mut requester), Some(expected));
    }
    assert_eq!(requester.active(), 3);
}

/// A response that comes late finds nobody who has its transaction ID, as long as there are others. By hand,
/// four IDs, each request given up after 1 000: the fifth waits until the first ID has rested for 5 000, or a
/// response is there after all.
#[test]
fn a_late_response_is_not_taken_for_that_of_another_request() {
    let options = Options { last_tid: 3, retries: 0, window: 1, linger: 5_000, ..options() };
    let asked = || {
        let mut requester = Requester::new(options);
        for token in 0..6 {
            requester.submit(order(token, read(0x1000, 0, 8))).unwrap();
        }
        for now in (0..4).map(|n| n * TIMEOUT) {
            requester.handle_timeout(now);
            assert!(requester.poll_transmit(now).is_some(), "at {now}");
        }
        requester.handle_timeout(4 * TIMEOUT);
        assert!(requester.poll_transmit(4 * TIMEOUT).is_none() && !requester.wants_transmit());
        while requester.poll_event().is_some() {}
        requester
    };
    let tid = |transmit: Option<Transmit<Data>>| match transmit.expect("one is free").body {
        Body::Read(read) => read.src_tid(),
        other => panic!("{other:?}"),
    };
    let mut patient = asked();
    assert_eq!(patient.poll_timeout(), Some(TIMEOUT + 5_000));
    patient.handle_timeout(TIMEOUT + 5_000);
    assert_eq!(tid(patient.poll_transmit(TIMEOUT + 5_000)), 0);
    let mut answered = asked();
    answered.handle_response(DEVICE, Response::Data { target_tid: 2, payload: vec![0; 8] });
    assert_eq!((answered.poll_event(), answered.counters().unsolicited), (None, 1));
    assert_eq!(tid(answered.poll_transmit(4_500)), 2);
}

/// Requests without an ID for their destination keep their order when two become free at a time, but for what
/// is more urgent; one that needs none goes behind those before it, and holds up nobody.
#[test]
fn requests_that_wait_for_an_id_keep_their_order() {
    let mut requester = Requester::new(Options { first_tid: 0, last_tid: 1, ..options() });
    let ask = |requester: &mut Requester<Data>, token, priority, body| {
        requester.submit(Order { priority: prio(priority), ..order(token, body) }).unwrap();
        std::iter::from_fn(|| requester.poll_transmit(0)).map(|sent| sent.token).collect::<Vec<_>>()
    };
    let own = || read(0x1000, 0, 8);
    let bare = || write(WriteOperation::Nwrite, 0x1000, 0, 8, &[0; 8]);
    let asks = [(0, own()), (0, own()), (0, own()), (0, bare()), (0, own()), (0, own()), (2, own())];
    let sent = (0..).zip(asks).map(|(token, (priority, body))| ask(&mut requester, token, priority, body));
    assert_eq!(sent.collect::<Vec<_>>(), [vec![0], vec![1], vec![], vec![], vec![], vec![], vec![]]);
    for (expected, at_once) in [(vec![6, 2, 3], 2), (vec![4], 1), (vec![5], 1)] {
        for tid in 0..at_once {
            requester.handle_response(DEVICE, Response::Data { target_tid: tid, payload: vec![0; 8] });
        }
        let sent = std::iter::from_fn(|| requester.poll_transmit(0)).map(|sent| sent.token);
        assert_eq!(sent.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn windows_bound_what_is_under_way() {
    let options = Options { window: 2, maintenance_window: 1, ..options() };
    let mut requester = Requester::new(options);
    for token in 0..3 {
        requester.submit(order(token, read(0x1000, 0, 8))).unwrap();
        requester.submit(order(10 + token, read_register(0))).unwrap();
    }
    let sent: Vec<bool> = std::iter::from_fn(|| requester.poll_transmit(0))
        .map(|transmit| matches!(transmit.body, Body::Maintenance(_)))
        .collect();
    assert_eq!(sent, [true, false, false]);
    // The end of a maintenance request lets the next one go, and no other.
    requester.handle_maintenance(DEVICE, Register::ReadDone { target_tid: 0, payload: vec![0; 8] });
    let next = requester.poll_transmit(0).unwrap();
    assert!(matches!(next.body, Body::Maintenance(_)));
    assert_eq!(requester.poll_transmit(0), None);
}

#[test]
fn urgent_requests_overtake_and_equal_ones_do_not() {
    let mut requester = Requester::new(options());
    for (token, priority) in [(0, 0), (1, 2), (2, 1), (3, 2), (4, 0)] {
        let body = write(WriteOperation::Nwrite, 0x1000, 0, 8, &[0; 8]);
        requester.submit(Order { priority: prio(priority), ..order(token, body) }).unwrap();
    }
    while requester.poll_transmit(0).is_some() {}
    let expected: Vec<_> = [1, 3, 2, 0, 4].into_iter().map(|token| done(token, None)).collect();
    assert_eq!(events(&mut requester), expected);
}

#[test]
fn requests_that_cannot_be_made_are_refused() {
    let mut requester = Requester::new(options());
    let fresh = requester.clone();
    let no_request = |body| {
        let found = requester.clone().submit(order(0, body));
        matches!(found, Err(Error::Value { field: "ftype", .. }))
    };
    assert!(no_request(Body::Doorbell(Doorbell { src_tid: 0, info: 0 })));
    assert!(no_request(Body::Response(Response::Io { target_tid: 0, status: Status::Done })));
    assert!(no_request(maintenance(Register::WriteDone { target_tid: 0 })));
    let urgent = |body| Order { priority: prio(3), ..order(0, body) };
    let refused = requester.submit(urgent(read(0x1000, 0, 8)));
    assert_eq!(refused, Err(Error::Range { field: "prio", max: 2, found: 3 }));
    assert_eq!(requester, fresh);
    // A priority that leaves none for a response is good enough where there is no response.
    let body = write(WriteOperation::Nwrite, 0x1000, 0, 8, &[0; 8]);
    assert_eq!(requester.submit(urgent(body)), Ok(()));
}

#[test]
fn what_is_not_answered_is_sent_again_under_another_id() {
    let mut requester = Requester::new(options());
    requester.submit(order(7, read(0x1000, 0, 8))).unwrap();
    let mut tids = Vec::new();
    for round in 0..4u64 {
        let now = round * TIMEOUT;
        let Some(Transmit { body: Body::Read(read), .. }) = requester.poll_transmit(now) else {
            panic!("round {round}");
        };
        tids.push(read.src_tid());
        assert_eq!(requester.poll_timeout(), Some(now + TIMEOUT));
        let before = requester.clone();
        requester.handle_timeout(now + TIMEOUT - 1);
        assert_eq!(requester, before, "too early");
        requester.handle_timeout(now + TIMEOUT);
        assert_eq!(requester.poll_timeout(), None);
    }
    assert_eq!(tids, [0, 1, 2, 3]);
    assert_eq!(requester.poll_transmit(4 * TIMEOUT), None);
    assert_eq!(events(&mut requester), [failed(7, Failure::Timeout)]);
    let counters = Counters { packets: 4, repetitions: 3, timeouts: 4, ..Counters::default() };
    assert_eq!(requester.counters(), counters);
    // Answers to any of them come too late.
    for tid in tids {
        requester.handle_response(DEVICE, Response::Data { target_tid: tid, payload: vec![0; 8] });
    }
    assert_eq!(requester.counters().unsolicited, 4);
    assert_eq!(events(&mut requester), []);
}

#[test]
fn a_repetition_goes_before_younger_requests_of_its_priority() {
    let mut requester = Requester::new(Options { window: 1, ..options() });
    requester.submit(order(0, read(0x1000, 0, 8))).unwrap();
    requester.submit(order(1, read(0x1008, 0, 8))).unwrap();
    requester.poll_transmit(0).unwrap();
    requester.submit(Order { priority: prio(1), ..order(2, read(0x1010, 0, 8)) }).unwrap();
    requester.handle_timeout(TIMEOUT);
    let mut sent = Vec::new();
    while let Some(Transmit { body: Body::Read(read), .. }) = requester.poll_transmit(TIMEOUT) {
        sent.push(read.address().byte());
        requester.handle_response(DEVICE, Response::Data { target_tid: read.src_tid(), payload: vec![0; 8] });
    }
    assert_eq!(sent, [0x1010, 0x1000, 0x1008]);
}

#[test]
fn atomic_operations_are_never_sent_twice() {
    for body in [
        atomic(ReadOperation::Increment, 0x1000, 0, 4),
        write(WriteOperation::Swap, 0x1000, 0, 4, &[0; 8]),
        write(WriteOperation::TestAndSwap, 0x1000, 0, 4, &[0; 8]),
        write(WriteOperation::CompareAndSwap, 0x1000, 0, 16, &[0; 16]),
    ] {
        let mut requester = Requester::new(options());
        requester.submit(order(7, body)).unwrap();
        requester.poll_transmit(0).unwrap();
        requester.handle_timeout(TIMEOUT);
        assert_eq!(events(&mut requester), [failed(7, Failure::Timeout)]);
        assert_eq!(requester.poll_transmit(TIMEOUT), None);
    }
}

/// Every kind of response to every kind of request.
#[test]
fn only_the_right_kind_of_response_from_the_right_device_completes_a_request() {
    enum Answer {
        Other(Response<Data>),
        Maintenance(Register<Data>),
    }
    let answers = || {
        [
            Answer::Other(Response::Io { target_tid: 0, status: Status::Done }),
            Answer::Other(Response::Io { target_tid: 0, status: Status::Retry }),
            Answer::Other(Response::Io { target_tid: 0, status: Status::Error }),
            Answer::Other(Response::Data { target_tid: 0, payload: vec![0; 8] }),
            Answer::Other(Response::Data { target_tid: 0, payload: vec![0; 16] }),
            Answer::Maintenance(Register::ReadDone { target_tid: 0, payload: vec![0; 8] }),
            Answer::Maintenance(Register::ReadError { target_tid: 0 }),
            Answer::Maintenance(Register::WriteDone { target_tid: 0 }),
        ]
    };
    let word = Access::register(0).unwrap();
    // d: done, e: ERROR, i: illegal, -: belongs to nothing.
    let table = [
        (read(0x1000, 2, 2), "iiedi---"),
        (read(0x1000, 0, 16), "iieid---"),
        (atomic(ReadOperation::Set, 0x1000, 0, 4), "iiedi---"),
        (write(WriteOperation::NwriteR, 0x1000, 0, 8, &[0; 8]), "dieii---"),
        (write(WriteOperation::CompareAndSwap, 0x1000, 0, 16, &[0; 16]), "iiedi---"),
        (read_register(0), "-----dei"),
        (maintenance(Register::Write { src_tid: 0, access: word, payload: vec![0; 8] }), "-----ied"),
    ];
    for (body, expected) in table {
        for (answer, expected) in answers().into_iter().zip(expected.chars()) {
            for source in [DEVICE, DEVICE + 1] {
                let mut requester = Requester::new(options());
                requester.submit(order(7, body.clone())).unwrap();
                requester.poll_transmit(0).unwrap();
                match &answer {
                    Answer::Other(response) => requester.handle_response(source, response.clone()),
                    Answer::Maintenance(operation) => {
                        requester.handle_maintenance(source, operation.clone());
                    }
                }
                let expected = if source == DEVICE { expected } else { '-' };
                let found = match events(&mut requester).as_slice() {
                    [] => '-',
                    [Event::Done { token: 7, .. }] => 'd',
                    [Event::Failed { token: 7, cause: Failure::ErrorResponse }] => 'e',
                    [Event::Failed { token: 7, cause: Failure::IllegalResponse }] => 'i',
                    other => panic!("{other:?}"),
                };
                assert_eq!(found, expected, "{body}");
                let Counters { errors, illegal, unsolicited, .. } = requester.counters();
                let counted = [('e', errors), ('i', illegal), ('-', unsolicited)];
                assert!(counted.iter().all(|&(kind, count)| count == u64::from(kind == expected)));
                assert_eq!(requester.active(), usize::from(expected == '-'));
                assert_eq!(requester.poll_timeout().is_some(), expected == '-');
            }
        }
    }
}

#[test]
fn foreign_responses_belong_to_nothing() {
    let mut requester = Requester::<Data>::new(options());
    let target = logical::wire::message::TargetInfo::from_byte(0);
    requester.handle_response(DEVICE, Response::Message { target, status: Status::Done });
    requester.handle_maintenance(DEVICE, Register::PortWrite { octets: 8, payload: vec![0; 8] });
    assert_eq!(requester.counters().unsolicited, 2);
}

#[test]
fn a_spurious_timeout_changes_nothing() {
    let mut requester = Requester::<Data>::new(options());
    requester.submit(order(0, read(0x1000, 0, 8))).unwrap();
    let before = requester.clone();
    requester.handle_timeout(u64::MAX);
    assert_eq!(requester, before);
}

/// Where only time and space matter, data is a length.
#[test]
fn data_may_be_a_length() {
    struct Sizes;
    impl Target<Extent> for Sizes {
        fn read(&mut self, _: Address, span: Span) -> Result<Extent, Fault> {
            Ok(Extent(span.payload_octets().into()))
        }
    }
    let mut requester = Requester::<Extent>::new(options());
    let span = Span::read(0, 192).unwrap();
    let body = Body::Read(Read::new(ReadOperation::Nread, 0, address(0), span).unwrap());
    requester.submit(Order { destination: DEVICE, priority: prio(0), body, token: 1 }).unwrap();
    let Transmit { priority, body, .. } = requester.poll_transmit(0).unwrap();
    let transport = Transport::new(priority, IdSize::Dev16, DEVICE, HOST).unwrap();
    let response = serve(Packet { transport, body }, &mut Sizes).unwrap();
    assert_eq!(response.octets(), 6 + 2 + 192);
    let Body::Response(response) = response.body else { panic!("response") };
    requester.handle_response(DEVICE, response);
    assert_eq!(requester.poll_event(), Some(Event::Done { token: 1, data: Some(Extent(192)) }));
}

/// What the network does with the next packet.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Delivered,
    Lost,
    Twice,
    Held,
}

fn any_fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        4 => Just(Fate::Delivered),
        1 => Just(Fate::Lost),
        1 => Just(Fate::Twice),
        1 => Just(Fate::Held),
    ]
}

proptest! {
    /// Whatever a network does, each request ends exactly once, nothing is left over, and a read that is done
    /// brings what was written.
    #[test]
    fn every_request_ends_exactly_once(
        kinds in proptest::collection::vec(0u8..5, 1..30),
        fates in proptest::collection::vec(any_fate(), 0..200),
    ) {
        let count = kinds.len() as u64;
        let mut requester = Requester::new(Options { window: 4, last_tid: 7, ..options() });
        let mut device = Endpoint::new();
        device.memory.write(address(0x1000), Span::DOUBLE_WORD, vec![0x5A; 8]).unwrap();
        for (token, kind) in (0..).zip(kinds) {
            let body = match kind {
                0 => read(0x1000, 0, 8),
                1 => write(WriteOperation::NwriteR, 0x1040, 0, 8, &[1; 8]),
                2 => write(WriteOperation::Nwrite, 0x1040, 0, 8, &[1; 8]),
                3 => atomic(ReadOperation::Increment, 0x1048, 0, 4),
                _ => read_register(offset::DEVICE_IDENTITY),
            };
            requester.submit(order(token, body)).unwrap();
        }
        let mut fates = fates.into_iter();
        let mut held = Vec::new();
        let mut ended = std::collections::BTreeMap::new();
        let mut now = 0;
        for round in 0.. {
            prop_assert!(round < 10_000, "it ends");
            while let Some(transmit) = requester.poll_transmit(now) {
                let responses: Vec<_> = match fates.next().unwrap_or(Fate::Delivered) {
                    Fate::Lost => vec![],
                    Fate::Delivered => vec![serve(packet(transmit), &mut device)],
                    Fate::Twice => {
                        let again = packet(transmit.clone());
                        vec![serve(packet(transmit), &mut device), serve(again, &mut device)]
                    }
                    Fate::Held => {
                        held.extend(serve(packet(transmit), &mut device));
                        vec![]
                    }
                };
                for response in responses.into_iter().flatten() {
                    match fates.next().unwrap_or(Fate::Delivered) {
                        Fate::Lost => {}
                        Fate::Delivered => deliver(&mut requester, response),
                        Fate::Twice => {
                            deliver(&mut requester, response.clone());
                            deliver(&mut requester, response);
                        }
                        Fate::Held => held.push(response),
                    }
                }
            }
            for event in events(&mut requester) {
                let (token, data) = match event {
                    Event::Done { token, data } => (token, data),
                    Event::Failed { token, cause } => {
                        prop_assert!(cause != Failure::ErrorResponse);
                        (token, None)
                    }
                };
                prop_assert!(ended.insert(token, data).is_none(), "request {} ended twice", token);
            }
            let Some(next) = requester.poll_timeout() else { break };
            prop_assert!(next > now);
            // Some answers come just before the deadline, the others too late.
            if held.len() % 2 == 0 {
                for response in held.drain(..) {
                    deliver(&mut requester, response);
                }
            }
            now = next;
            requester.handle_timeout(now);
            prop_assert!(requester.poll_timeout().is_none_or(|next| next > now));
        }
        prop_assert_eq!(ended.len() as u64, count);
        prop_assert_eq!((requester.active(), requester.wants_transmit()), (0, false));
    }
}
