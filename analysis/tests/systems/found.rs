//! What random systems have found, as small as it gets.

use crate::Verdict;
use crate::laws::judge;

/// All laws hold in this system, run in every way.
fn sound(text: &str) {
    match judge(text, true, true) {
        Verdict::Sound { .. } => {}
        Verdict::Refused(code, why) => panic!("{code}: {why}"),
        Verdict::Broken(why) => panic!("{why}"),
    }
}

/// Streams that are no conduits ended with a restart, and had never been counted as open.
#[test]
fn a_restart_ends_only_conduits_that_were_open() {
    sound(
        r#"{
            "name": "t", "topology": {"single_switch": {"ports": 2}},
            "traffic": [{"name": "s", "from": ["ep/0"], "to": "ep/1",
                         "session": {"opens": "stream", "restarts": [{"node": "ep/0", "at": "25 us"}]}}],
            "run": {"until": "40 us"}
        }"#,
    );
}

/// A PDU that comes twice because the scenario doubles it: 1 was asked for, 2 arrived.
#[test]
fn doubled_data_is_in_the_books() {
    sound(
        r#"{
            "name": "t", "topology": {"single_switch": {"ports": 2}},
            "traffic": [{"name": "s", "from": ["ep/0"], "to": "ep/1", "limit": 1, "size": 60,
                         "arrivals": {"constant": {"interval": "2 us", "phase": "0 ps"}},
                         "session": {"faults": [{"from": "ep/0", "to": "ep/1", "message": "data", "nth": 1,
                                                 "fate": "duplicate"}]}}],
            "run": {"until": "40 us"}
        }"#,
    );
}

/// Likewise PDUs with too few octets to say which they are: 3 were asked for, 4 arrived.
#[test]
fn short_doubled_data_is_in_the_books() {
    for node in [r#""data": "stream""#, r#""header": "data""#, r#""header": "data2""#] {
        for size in [1, 8, 11] {
            sound(&format!(
                r#"{{
                    "name": "t", "topology": {{"single_switch": {{"ports": 2}}}},
                    "endpoint": {{"session": {{{node}}}}},
                    "traffic": [{{"name": "s", "from": ["ep/0"], "to": "ep/1", "limit": 3, "size": {size},
                                 "arrivals": {{"constant": {{"interval": "2 us", "phase": "0 ps"}}}},
                                 "session": {{"faults": [{{"from": "ep/0", "to": "ep/1", "message": "data",
                                                          "nth": 2, "fate": "duplicate"}}]}}}}],
                    "run": {{"until": "60 us"}}
                }}"#
            ));
        }
    }
}

/// A node restarts and gives a stream of one flow to another: the PDUs of the first counted as those of the
/// second, of which 46 arrived where 6 were asked for.
#[test]
fn pdus_on_a_stream_that_was_given_anew_are_misdelivered() {
    sound(
        r#"{
            "name": "t", "topology": {"single_switch": {"ports": 2}},
            "traffic": [
                {"name": "old", "from": ["ep/0"], "to": "ep/1", "limit": 20, "size": 1, "start": "30 us",
                 "arrivals": {"constant": {"interval": "2 us", "phase": "0 ps"}},
                 "session": {"protocol": 700}},
                {"name": "new", "from": ["ep/1"], "to": "ep/0", "limit": 3, "size": 900, "start": "30 us",
                 "arrivals": {"constant": {"interval": "2 us", "phase": "0 ps"}},
                 "session": {"protocol": 701, "at": "25 us",
                             "restarts": [{"node": "ep/1", "at": "20 us", "reuse": true}],
                             "faults": [{"from": "ep/1", "to": "ep/0", "message": "accept", "nth": 1,
                                         "fate": "lose"}]}}],
            "run": {"until": "100 us"}
        }"#,
    );
}

/// A program takes its own PDUs, also where a restart gives streams anew. What is another flow's is in the
/// books of its sessions, and it said that nobody had sent it.
#[test]
fn a_program_takes_only_its_own() {
    sound(
        r#"{
            "name": "t", "topology": {"torus": {"size": [3, 3]}},
            "endpoint": {"host": {"rx_service": {"uniform": ["0 ps", "2 us"]}, "protocol_clock": 50000}},
            "traffic": [
                {"name": "other", "from": ["ep/1"], "to": "ep/3", "arrivals": {"bernoulli": {"load": 0.3}},
                 "session": {}},
                {"name": "program", "from": "all",
                 "session": {"program": {"collective": "barrier"}, "protocol": 701,
                             "restarts": [{"node": "all", "at": "10 us", "reuse": true}]}}]
        }"#,
    );
}

/// Each PDU of a program counts once, and one that is doubled on its way came twice.
#[test]
fn a_program_takes_each_pdu_once() {
    sound(
        r#"{
            "name": "t", "topology": {"single_switch": {"ports": 2}},
            "traffic": [
                {"name": "program", "from": "all",
                 "session": {"program": {"collective": "barrier", "eager": 0},
                             "faults": [{"from": "ep/0", "to": "ep/1", "message": "data", "nth": 1,
                                         "fate": "duplicate"},
                                        {"from": "ep/1", "to": "ep/0", "message": "data", "nth": 2,
                                         "fate": "duplicate"}]}}],
            "run": {"until": "100 us"}
        }"#,
    );
}

/// Messages of 4096 octets from a node with segments of 64: no packet could carry them.
#[test]
fn long_data_takes_longer_segments() {
    sound(
        r#"{
            "name": "t", "topology": {"single_switch": {"ports": 2}},
            "endpoint": {"session": {"segment": 64}},
            "traffic": [{"name": "s", "from": ["ep/0"], "to": "ep/1", "limit": 1, "size": 9000,
                         "arrivals": {"constant": {"interval": "20 us", "phase": "0 ps"}}, "session": {}}],
            "run": {"until": "60 us"}
        }"#,
    );
}

/// Pools of neighbours that are full of packets for each other stand for ever, and that is told: what is in
/// an input waits for a place in the pool and not for credit, which came long ago, though nobody has read it.
#[test]
fn full_pools_are_a_stall() {
    sound(
        r#"{
            "name": "t", "seed": 3,
            "run": {"until": "100 us", "sample_every": "auto", "stall_after": "15 us"},
            "topology": {"xgft": {"down": [2, 2, 2], "up": [2, 1]}},
            "routing": {"method": "up_down", "root": "level1/2"},
            "links": {"length": "100 m", "symbol": "long", "granularity": "packet"},
            "overrides": [{"link": "level2/2:2", "links": {"length": "7 m"}}],
            "switch": {"input_buffers": 5, "input": "voq", "buffering": "shared", "buffer_packets": 2,
                       "arbitration": "longest_queue_first"},
            "endpoint": {"host": {"rx_service": "100 ns", "rx_queue": 6}},
            "traffic": [
                {"name": "trace-0", "arrivals": {"trace": {"rows": [
                    "766594,ep/3,ep/2,256,3,9", "1184511,ep/1,ep/5,256,3,9", "1771910,ep/5,ep/3,64,3,13",
                    "2128904,ep/2,ep/0,64,0,11", "4039260,ep/1,ep/0,256,1,13", "4910748,ep/5,ep/0,256,2,6",
                    "5930368,ep/7,ep/2,64,3,11", "5978809,ep/6,ep/5,256,3,6", "7013139,ep/6,ep/5,64,1,13",
                    "7338995,ep/4,ep/2,8,2,9", "8950613,ep/2,ep/5,256,3,11", "9813778,ep/2,ep/0,8,0,5",
                    "11086308,ep/3,ep/4,64,1,11", "11716856,ep/4,ep/3,8,2,9", "12960398,ep/3,ep/7,8,2,6",
                    "13376670,ep/3,ep/0,256,2,6", "14882923,ep/0,ep/1,64,1,13", "15251489,ep/3,ep/1,256,0,13"
                ]}}},
                {"name": "echo-1", "to": "ep/7",
                 "from": ["ep/0", "ep/1", "ep/2", "ep/3", "ep/4", "ep/5", "ep/6"],
                 "arrivals": {"bernoulli": {"load": 0.05}}, "echo": {"carrier": "stream"}}]
        }"#,
    );
}

/// The second of two packets is damaged on its link, while the first is acknowledged by a neighbour that
/// tells of no free buffers any more: the second is never repeated, and that is told. Where the silence
/// begins later, both arrive.
#[test]
fn a_packet_that_is_never_repeated_is_a_stall() {
    for at in (10_000..=10_700).step_by(50) {
        sound(&format!(
            r#"{{
                "name": "t", "topology": {{"single_switch": {{"ports": 2}}}},
                "faults": {{"corrupt": [{{"device": "sw", "port": 1, "what": "packet", "nth": 2}}],
                            "silent_credits": [{{"device": "ep/1", "port": 0, "at": "{at} ns"}}]}},
                "traffic": [{{"name": "p", "from": ["ep/0"], "to": "ep/1", "limit": 2, "size": 256,
                              "start": "10 us",
                              "arrivals": {{"constant": {{"interval": "115 ns", "phase": "0 ps"}}}}}}],
                "run": {{"until": "400 us", "stall_after": "15 us"}}
            }}"#
        ));
    }
}

/// Likewise a packet of VC7 on a link with one channel, which carries all of them: the watchdog asked for the
/// credit of a seventh one, and panicked.
#[test]
fn a_packet_of_a_channel_that_is_never_repeated_is_a_stall() {
    for at in (10_000..=10_700).step_by(50) {
        sound(&format!(
            r#"{{
                "name": "t", "topology": {{"single_switch": {{"ports": 2}}}},
                "links": {{"vcs": {{"count": 1}}}},
                "faults": {{"corrupt": [{{"device": "sw", "port": 1, "what": "packet", "nth": 2}}],
                            "silent_credits": [{{"device": "ep/1", "port": 0, "at": "{at} ns"}}]}},
                "traffic": [{{"name": "p", "from": ["ep/0"], "to": "ep/1", "limit": 2, "size": 256,
                              "start": "10 us", "vc": 7,
                              "arrivals": {{"constant": {{"interval": "115 ns", "phase": "0 ps"}}}}}}],
                "run": {{"until": "400 us", "stall_after": "15 us"}}
            }}"#
        ));
    }
}

/// A port that tells no free buffers is waited for on a link that recovers from one error after the other:
/// that a symbol was always on its way was taken for a link at work.
#[test]
fn errors_do_not_hide_a_stall() {
    sound(
        r#"{
            "name": "t", "run": {"until": "600 us", "stall_after": "30 us"},
            "topology": {"single_switch": {"ports": 2}},
            "faults": {"bit_errors": [{"link": "ep/1", "rate": 0.0003}],
                       "silent_credits": [{"device": "ep/1", "port": 0, "at": "20 us"}]},
            "traffic": [{"name": "p", "from": "ep/0", "to": "ep/1", "limit": 40,
                         "arrivals": {"constant": {"interval": "2 us", "phase": "0 ps"}}}]
        }"#,
    );
}

/// After a time without packets the watchdog looks seldom; what stands still at the end of the run is told.
#[test]
fn what_stands_still_at_the_end_is_a_stall() {
    sound(
        r#"{
            "name": "t", "run": {"until": "200 us", "stall_after": "30 us"},
            "topology": {"fat_tree": {"ports": 4, "endpoints": 4}},
            "voq": {"enabled": true,
                    "writes": [{"at": "2 us", "port": "spine/0:2", "xoff": true, "part": true}]},
            "traffic": [{"name": "p", "from": "ep/1", "to": "ep/3", "limit": 1, "start": "100 us",
                         "arrivals": {"constant": {"interval": "2 us", "phase": "0 ps"}},
                         "messages": {"segment": 64}}]
        }"#,
    );
}

/// The check of octets on the wire took packets of the second interface of a host for packets with short ids.
#[test]
fn stripes_have_ids_of_the_fabric() {
    sound(
        r#"{
            "name": "t", "run": {"until": "60 us"}, "id_bits": 16,
            "topology": {"single_switch": {"ports": 6}},
            "traffic": [{"name": "s", "from": "ep/0", "to": {"cycle": ["ep/2", "ep/3"]},
                         "st": {"stripes": {"from": 1, "to": 2}, "bytes": 20000}}]
        }"#,
    );
}

/// A node on two conveyances has two blocks, and each has a lock: two processors may have one each.
#[test]
fn each_block_has_its_own_lock() {
    sound(
        r#"{
            "name": "t", "seed": 4, "run": {"until": "1000 us", "sample_every": "1 us", "stall_after": "off"},
            "topology": {"chain": {"switches": 3, "endpoints_per_switch": 1}},
            "links": {"length": "1 m", "phy_latency": "1 ns", "rate": "25.78125 Gbaud"},
            "switch": {"pipeline": "30 ns"}, "configure": {"fabric": {"host": "ep/1"}},
            "endpoint": {
                "host": {"rx_service": {"uniform": ["0 ps", "2 us"]}, "rx_queue": 1024,
                         "protocol_clock": 1000},
                "session": {"management": "both", "data": "stream", "contact": "assumed",
                            "writes": []}},
            "overrides": [{"link": "sw/1", "links": {"length": "7 m"}}],
            "traffic": [
                {"name": "session-1", "from": ["ep/1"], "to": "ep/2", "limit": 1, "size": 900,
                 "arrivals": {"constant": {"load": "50 %"}}, "session": {"at": "0 ps"}, "priority": 0},
                {"name": "initialise-0", "from": ["ep/0", "ep/1", "ep/2"], "to": {"uniform": {}},
                 "priority": 0, "initialise": {"writes": ["contact"], "at": "3 us"}},
                {"name": "initialise-1", "from": ["ep/0", "ep/1", "ep/2"], "to": {"uniform": {}},
                 "initialise": {"stage": 2, "writes": ["periods"], "poll": "2000 us", "attempts": 100}}]
        }"#,
    );
}

/// A multicast copy began to wait with the memory that the copy before it has of another port, where ackIDs
/// had run out; when they ran out at its own port, too, more time had passed without one than at all.
#[test]
fn copies_wait_for_their_own_port() {
    sound(
        r#"{
            "name": "t", "run": {"until": "100 us"},
            "topology": {"mesh": {"size": [2, 2], "endpoints_per_switch": 2}},
            "links": {"length": "100 m", "flow_control": "receiver"},
            "switch": {"arbitration": "oldest_first"},
            "faults": {"corrupt": [{"device": "sw/1-1", "port": 4, "what": "symbol", "nth": 2}],
                       "outages": [{"link": "ep/2", "at": "25 us", "for": "1 us"}]},
            "multicast": [{"name": "group", "members": ["ep/3", "ep/4", "ep/6"]}],
            "traffic": [{"name": "p", "from": "all", "to": "group", "arrivals": {"saturated": {}},
                         "limit": 40, "packet": "response", "size": 8, "priority": 3}]
        }"#,
    );
}

/// A link dies while a packet is on it, or just after: the packet stands there for ever, and that is told.
#[test]
fn a_packet_on_a_dead_link_is_a_stall() {
    for at in (20..600).step_by(20) {
        sound(&format!(
            r#"{{
                "name": "t", "topology": {{"single_switch": {{"ports": 2}}}},
                "faults": {{"dead_devices": [{{"device": "ep/1", "at": "{at} ns"}}]}},
                "traffic": [{{"name": "p", "from": ["ep/0"], "to": "ep/1", "limit": 1, "start": "0 ps",
                              "arrivals": {{"constant": {{"interval": "2 us", "phase": "0 ps"}}}}}}],
                "run": {{"until": "400 us", "stall_after": "15 us"}}
            }}"#
        ));
    }
}

/// Registers that nodes of a session read were told as round trips of the first flow in the file.
#[test]
fn registers_belong_to_the_enumeration() {
    sound(
        r#"{
            "name": "t", "topology": {"single_switch": {"ports": 3}},
            "configure": {"fabric": {"host": "ep/0"}},
            "endpoint": {"session": {"contact": "registers"}},
            "traffic": [{"name": "m", "from": ["ep/0"], "to": "ep/1", "limit": 1, "size": 64, "messages": {},
                         "arrivals": {"constant": {"interval": "2 us", "phase": "0 ps"}}},
                        {"name": "s", "from": ["ep/1"], "to": "ep/2", "session": {}}],
            "run": {"until": "400 us"}
        }"#,
    );
}

/// A flow of streams and a session that hands out the same StreamID, with another priority.
#[test]
fn flows_and_sessions_have_streams_of_their_own() {
    sound(
        r#"{
            "name": "t", "topology": {"single_switch": {"ports": 2}},
            "endpoint": {"session": {"data": "stream"}},
            "traffic": [{"name": "p", "from": ["ep/0"], "to": "ep/1", "size": 600, "streams": {},
                         "arrivals": {"saturated": {}}},
                        {"name": "s", "from": ["ep/0"], "to": "ep/1", "size": 900, "priority": 1,
                         "arrivals": {"constant": {"interval": "2 us", "phase": "0 ps"}}, "session": {}}],
            "run": {"until": "60 us"}
        }"#,
    );
}

/// Operations of Control with a priority of their own, in the second flow of a file, and frames of LINX of
/// priority 1 had one StreamID.
#[test]
fn control_operations_and_linx_have_streams_of_their_own() {
    sound(
        r#"{
            "name": "t", "topology": {"single_switch": {"ports": 2}},
            "endpoint": {"linx": {"carrier": "stream", "heartbeat_priority": 1, "data_priorities": [1]}},
            "traffic": [{"name": "l", "from": ["ep/0"], "to": "ep/1", "size": 9000, "linx": {},
                         "arrivals": {"constant": {"interval": "5 us", "phase": "0 ps"}}},
                        {"name": "s", "from": ["ep/0"], "to": "ep/1",
                         "st": {"bytes": 5000, "count": 20, "control_priority": 2}}],
            "run": {"until": "100 us"}
        }"#,
    );
}

/// Likewise a session that sends on a stream of the range of vendors.
#[test]
fn flows_and_vendors_have_streams_of_their_own() {
    sound(
        r#"{
            "name": "t", "topology": {"single_switch": {"ports": 2}},
            "endpoint": {"session": {"management": "stream", "data": "stream", "stream": 57343}},
            "traffic": [{"name": "p", "from": ["ep/0"], "to": "ep/1", "size": 600, "streams": {},
                         "arrivals": {"saturated": {}}},
                        {"name": "s", "from": ["ep/0"], "to": "ep/1", "size": 900, "priority": 1,
                         "arrivals": {"constant": {"interval": "2 us", "phase": "0 ps"}},
                         "session": {"opens": {"vendor_stream": 57344}}}],
            "run": {"until": "60 us"}
        }"#,
    );
}

/// The last timer goes off unheard between the last sample and the end: the run was over before, sampled or
/// not.
#[test]
fn a_sample_to_come_does_not_keep_a_run_going() {
    sound(
        r#"{"name": "samples", "seed": 4, "run": {"until": "1 ms", "warmup": "0 ps",
        "sample_every": "7777 ns", "stall_after": "off"}, "topology": {"torus": {"size": [3, 2]}},
        "endpoint": {"host": {"protocol_clock": 10, "response_timeout": "10 ms"}},
        "configure": {"fabric": {"host": "ep/4", "priority": 2}},
        "traffic": [{"name": "packets", "from": "ep/0", "to": "ep/5",
        "arrivals": {"bernoulli": {"load": 0.05}}, "limit": 1, "packet": "response"}]}"#,
    );
}

/// The last packets of a flow are lost: its time does not end with those that arrived.
#[test]
fn what_is_lost_last_is_measured() {
    sound(
        r#"{"name": "lost", "seed": 7, "run": {"until": "60 us", "warmup": "0 ps"},
        "topology": {"torus": {"size": [3, 2]}}, "switch": {"pipeline": "30 ns"},
        "links": {"symbol": "auto", "vcs": {"count": 8, "continuous": 8}},
        "faults": {"outages": [{"link": "ep/1", "at": "9 us", "for": "8 us"}],
        "lane_losses": [{"link": "sw/2-0:0", "at": "34 us", "retrain": "20 us", "width": "1x"}]},
        "routing": {"method": "shortest", "allow_deadlock": true},
        "traffic": [{"name": "packets-0", "from": "ep/2",
        "to": {"cycle": ["ep/0", "ep/1", "ep/3", "ep/4", "ep/5"]},
        "arrivals": {"on_off": {"load": 0.1, "on": "3 us", "off": "6 us"}}, "limit": 40, "packet": "message",
        "vc": 7}]}"#,
    );
}

/// Packets wait for a device that is dead, and the watchdog would tell after the limit: the run has come
/// to its limit, it is not done.
#[test]
fn what_stands_still_is_not_done() {
    sound(
        r#"{"name": "still", "topology": {"single_switch": {"ports": 2}},
        "faults": {"dead_devices": [{"device": "ep/1", "at": "5500 ns"}]},
        "traffic": [{"name": "p", "from": "ep/0", "to": "ep/1", "size": 64, "limit": 20,
        "arrivals": {"constant": {"interval": "1 us", "phase": "0 ps"}}}],
        "run": {"until": "45 us", "warmup": "0 ps", "stall_after": "44 us"}}"#,
    );
}

/// Ranks 2 and 3 talk to nobody: each is a node whose program is done at once, and no host of `configure`.
#[test]
fn ranks_that_talk_to_nobody_are_nodes() {
    for configure in ["", r#""configure": {"fabric": {"host": "ep/3"}},"#] {
        for transport in ["linx", "session"] {
            sound(&format!(
                r#"{{
                    "name": "t", "topology": {{"single_switch": {{"ports": 4}}}}, {configure}
                    "traffic": [{{"name": "p", "from": "all", "{transport}": {{"program": {{"text": [
                        "num_ranks 4", "rank 0 {{", "send 600b to 1 tag 3", "}}",
                        "rank 1 {{", "recv 600b from 0 tag 3", "}}"]}}}}}}],
                    "run": {{"until": "400 us"}}
                }}"#
            ));
        }
    }
}

/// Puts without repetition whose late Data lands in a place that the next Put uses; Puts that the next one
/// overwrites before a slow upper layer looks; a Transfer that a polled one has not looked at when the run
/// ends. All were told as lost unseen.
#[test]
fn what_an_upper_layer_finds_late_is_not_lost_unseen() {
    sound(
        r#"{
            "name": "t", "topology": {"fat_tree": {"ports": 4, "endpoints": 8}},
            "traffic": [{"name": "st-1", "from": ["ep/5", "ep/6", "ep/7"], "to": "ep/2",
                         "st": {"operation": "put", "bytes": 5000, "count": 5, "op_timeout": "8 us",
                                "max_retry": 0, "delayed": {"data": "5 %"}, "delay": "15 us"}}]
        }"#,
    );
    sound(
        r#"{
            "name": "t", "topology": {"chain": {"switches": 2, "endpoints_per_switch": 2}},
            "traffic": [{"name": "st-0", "from": ["ep/0", "ep/1", "ep/3"], "to": "ep/2",
                         "st": {"operation": "put", "bytes": 100, "count": 2, "upper": {"header": "2 us"}}}]
        }"#,
    );
    sound(
        r#"{
            "name": "t", "run": {"until": "100 us"}, "links": {"medium": "hippi-6400"},
            "topology": {"chain": {"switches": 3, "endpoints_per_switch": 2}},
            "traffic": [{"name": "st-0", "from": ["ep/0", "ep/1"], "to": {"cycle": ["ep/2", "ep/3"]},
                         "st": {"stripes": {"from": 2, "to": 2}, "bytes": 20000, "block": 8192,
                                "notify": true, "upper": {"header": "100 ns", "poll": "20 us"}}}]
        }"#,
    );
}

/// A processor in two flows locks with one value in both, so one flow frees the lock of the other and a third
/// processor takes it: that two had one lock was told as a broken law of the simulator. With a value of its
/// own for the second flow that never happens, whenever it comes.
#[test]
fn a_processor_in_two_flows_does_not_see_itself() {
    for lock in ["", r#""lock": 7, "#] {
        for at in (0..6_000).step_by(250) {
            let second = r#"{"name": "second", "from": ["ep/2"], "to": {"cycle": ["ep/0", "ep/1"]},"#;
            let third = second.replace("second", "third").replace("ep/2", "ep/3");
            let stage =
                format!(r#""initialise": {{{lock}"stage": 2, "writes": ["contact"], "poll": "3 us","#);
            sound(&format!(
                r#"{{
                    "name": "t", "topology": {{"single_switch": {{"ports": 6}}}},
                    "configure": {{"fabric": {{"host": "ep/5"}}}},
                    "endpoint": {{"session": {{"writes": []}}}},
                    "traffic": [{{"name": "s", "from": ["ep/0"], "to": "ep/1", "session": {{}}}},
                                {{"name": "first", "from": ["ep/2"], "to": {{"cycle": ["ep/0", "ep/1"]}},
                                 "initialise": {{"writes": ["periods"]}}}},
                                {second} {stage} "at": "{at} ns"}}}}, {third} {}}}}}],
                    "run": {{"until": "400 us"}}
                }}"#,
                stage.replace(lock, "").trim_end_matches(','),
            ));
        }
    }
}

/// On a link of 100 m ten errors come in the time that one recovery takes: the packet is sent again and
/// again, and never gets across. The link is at work, so this is no stall; repetitions are told.
#[test]
fn what_is_sent_again_and_again_does_not_stand_still() {
    sound(
        r#"{
            "name": "t", "run": {"until": "400 us", "stall_after": "15 us"},
            "topology": {"single_switch": {"ports": 2}},
            "links": {"length": "100 m", "width": "16x", "rate": "5 Gbaud"},
            "faults": {"bit_errors": [{"link": "ep/1", "rate": 0.0001}]},
            "traffic": [{"name": "p", "from": "ep/0", "to": "ep/1", "limit": 1,
                         "arrivals": {"constant": {"interval": "2 us", "phase": "0 ps"}}}]
        }"#,
    );
}

/// A Transfer without a length over two interfaces ends before all of its Clear_To_Sends have come through
/// the other one: those are stale, and one is logged (ST-D8). That is no fault of anybody.
#[test]
fn what_comes_through_another_interface_when_all_is_over_is_stale() {
    sound(
        r#"{
            "name": "t", "run": {"until": "1 ms"}, "topology": {"single_switch": {"ports": 4}},
            "traffic": [{"name": "w", "from": ["ep/0", "ep/1"], "to": {"cycle": ["ep/2", "ep/3"]},
                "st": {"stripes": {"from": 2, "to": 2}, "bytes": 2000, "window": 0, "stu": 256, "block": 256,
                       "ring": 131072, "disconnect": false}}]
        }"#,
    );
}
