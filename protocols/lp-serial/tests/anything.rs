//! A port whose partner says anything at all neither panics nor loses count.

mod hostile;

use proptest::prelude::*;
use proptest::test_runner::Config;

proptest! {
    #![proptest_config(Config { cases: 2_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn a_port_survives_any_partner(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        hostile::run(&bytes);
    }
}
