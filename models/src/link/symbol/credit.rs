//! What the link port knows of buffers, and what the fabric does: both ways.

use crate::ids::PortId;
use crate::link::Links;
use crate::observe::Build;
use lp_serial::link::{FlowControl, PacketMeta};

impl<P: Build> Links<P> {
    /// The link port learns how many buffers are in use; `truly`: even if it must not tell.
    pub fn count(&mut self, port: PortId, truly: bool) {
        let rx = &self.ports[port.index()].rx;
        let in_use = u16::from(rx.in_use());
        let total = u16::from(rx.buffers);
        let end = self.end(port);
        let withholds = end.withholds && !truly;
        end.link.occupy(0, if withholds { total } else { in_use });
        end.count_channels(withholds);
    }

    /// What the fabric knows of the credit of `port` is what its link port knows. What was created before now
    /// has been made up. Whether a priority that could not start now can.
    pub fn sync(&mut self, now: u64, port: PortId) -> bool {
        let end = self.ends[port.index()].as_ref().expect("the link runs in symbol granularity");
        let normal = end.is_normal();
        let outstanding = (end.link.outstanding() + end.link.waiting()) as u16;
        let in_vc0 = end.outstanding_in_vc0();
        let credit = end.link.credit(0);
        let receiver = end.link.flow() == FlowControl::Receiver;
        let free = if receiver { i16::MAX / 2 } else { credit.last_told() as i16 - in_vc0 as i16 };
        let timing = &self.timings[self.ports[port.index()].tx.timing as usize];
        let gate = if normal {
            timing.blocked(free, outstanding)
        } else {
            let may = |p: u8| now >= end.resumes && end.link.would_start(PacketMeta::new(p, 0));
            (0..4).fold(0u16, |gate, p| if may(p) { gate } else { gate | 1 << p })
        };
        let gate = gate | end.channel_gate(normal, timing.ack_window);
        let idle = normal && end.link.outstanding() == 0;
        let recovering = self.ports[port.index()].tx.clock.is_recovering();
        if idle && self.end(port).link.input() == lp_serial::link::InputState::Normal {
            self.end(port).suspect = false;
        }
        let tx = &mut self.ports[port.index()].tx;
        let before = tx.clock.blocked();
        (tx.free, tx.outstanding) = (free, outstanding);
        if recovering && normal {
            tx.clock.end_recovery(now, tx.done.time().0, tx.waiting > 0);
        } else if !recovering && !normal {
            tx.clock.begin_recovery(now);
        }
        tx.clock.set_gate(now, gate);
        before & !gate != 0
    }
}
