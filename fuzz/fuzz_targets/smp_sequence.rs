//! Message sequences into one endpoint, time between them: nothing panics, only OPEN and ACCEPT open, a
//! malformed STATUS is not answered, own messages are well formed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use session_management::Algorithm;
use session_management::endpoint::{Config, Endpoint};
use session_management::message::{Command, Message, Mode};
use session_management::negotiate::Offer;
use session_management::protocol::Protocol;
use session_management::register::Contact;

const P: u16 = 0x0034;

fn run(algorithm: Algorithm, steps: &[(u8, Vec<u8>)]) {
    let protocols = [Protocol::standard(0x0200).unwrap(), Protocol::ETHERNET];
    let mut offers = protocols.map(Offer::plain).to_vec();
    for offer in &mut offers {
        offer.min_period = 100_000;
    }
    let mut config = Config::new(P, Contact::Mailbox(2), offers);
    config.assumed = Some(Contact::Mailbox(2));
    config.algorithm = algorithm;
    config.max_records = 16;
    config.max_streams = 8;
    let mut node = Endpoint::new(config);
    let mut now = 0;
    for (wait, octets) in steps {
        now += u64::from(*wait) * 10_000_000_000;
        while let Some(at) = node.poll_timeout().filter(|&at| at <= now) {
            node.handle_timeout(at);
            while node.poll_transmit().is_some() {}
        }
        let streams = node.streams().count();
        node.handle_message(now, u16::from(*wait % 3), octets);
        let parsed = Message::parse(octets, Mode::NonValidation);
        if !matches!(parsed, Ok(Message::Open(_) | Message::Accept(_))) {
            assert!(node.streams().count() <= streams);
        }
        let malformed_status = parsed.is_err() && octets.first() == Some(&Command::Status.code());
        while let Some(answer) = node.poll_transmit() {
            assert!(!malformed_status);
            assert!(Message::parse(&answer.octets, Mode::NonValidation).is_ok());
        }
        while node.poll_event().is_some() {}
    }
}

fuzz_target!(|steps: Vec<(u8, Vec<u8>)>| {
    for algorithm in Algorithm::ALL {
        run(algorithm, &steps);
    }
});
