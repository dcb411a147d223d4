//! Writing and reading one message of each fixed-size kind, without allocation.
//!
//! One iteration is one `emit` and one `parse`; the goal is 10 million a second on one core.

use criterion::{Criterion, criterion_group, criterion_main};
use session_management::attribute::{Attribute, Attributes, List};
use session_management::control::{Accept, Advertise, Answer, Open, Refuse, Request};
use session_management::data::{Data, Header};
use session_management::message::{Message, Mode};
use session_management::status::{Close, Flow, FlowControl, Status, StatusBits, UserDefined};
use std::hint::black_box;

fn messages(criterion: &mut Criterion) {
    let list: Attributes =
        [Attribute::message_number(7), Attribute::conduit_stream(0xFFFF, 0x2000)].into_iter().collect();
    let attributes = list.list();
    let (source, destination, protocol, cos, stream) = (0x12, 0x34, 0x0200, 0x40, 0x0100);
    let data = |header| Message::Data(Data { header, start: true, end: true, length: 0, body: &[] });
    let none = List::default();
    let all = [
        (
            "request",
            Message::Request(Request { source, destination, cos, protocol: 0xFFFF, attributes: none }),
        ),
        ("advertise", Message::Advertise(Advertise { source, destination, answer: Answer::Unsupported })),
        ("open", Message::Open(Open { source, protocol, attributes })),
        ("accept", Message::Accept(Accept { destination, cos, stream, protocol, attributes })),
        ("refuse", Message::Refuse(Refuse { destination, protocol, attributes })),
        (
            "flow_control",
            Message::FlowControl(FlowControl { cos, flow: Flow::Xoff, source, stream, protocol }),
        ),
        ("close", Message::Close(Close { source, destination, cos, stream })),
        (
            "status",
            Message::Status(Status {
                cos,
                source,
                stream,
                mailbox: 2,
                command: 8,
                version: 1,
                bits: StatusBits::CLOSED,
                data: &[],
            }),
        ),
        ("data", data(Header::Data { mailbox: 2, cos, source, tag: stream })),
        ("data1", data(Header::Data1 { mailbox: 2, cos, source, tag: stream.into() })),
        ("data2", data(Header::Data2 { specific: 0x5A })),
        ("user_defined", Message::UserDefined(UserDefined::new(0xF0, 0, source, 0xFFFF, &[]).unwrap())),
    ];
    let mut group = criterion.benchmark_group("emit_and_parse");
    for (name, message) in all {
        group.bench_function(name, |bencher| {
            let mut buffer = [0; 64];
            bencher.iter(|| {
                let length = black_box(&message).emit(&mut buffer).unwrap();
                let read = Message::parse(black_box(&buffer[..length]), Mode::Validation);
                black_box(read.is_ok())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, messages);
criterion_main!(benches);
