//! The attributes of an OPEN, for each kind of protocol: judged without panic, and what is agreed is legal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use session_management::attribute::List;
use session_management::negotiate::{Offer, Terms, check_open, judge_accept, judge_open, propose};
use session_management::protocol::Protocol;

fuzz_target!(|octets: &[u8]| {
    let (list, _) = octets.as_chunks();
    let list = List(list);
    let vendor = Protocol::vendor([0, 0xA0, 0x1E, 0, 0, 0, 0], *b"FTPDRCT");
    for protocol in [Protocol::ETHERNET, vendor, Protocol::standard(0x0200).unwrap()] {
        let offer = Offer::plain(protocol);
        if let Ok(agreed) = judge_open(&offer, list, Some(2)) {
            assert_eq!(check_open(protocol.id(), agreed.list()), Ok(()));
            assert!(judge_accept(&offer, list, agreed.list()).is_ok());
            let terms = Terms::of(protocol.id(), agreed.list(), 1, 1, 1);
            assert!(terms.retry > 0 && terms.timeout > 0);
        }
        let _ = propose(&offer, list, list, false);
    }
});
