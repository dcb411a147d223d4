//! Deadlines that the owner brings forward, to replay an order of events.

use super::Endpoint;
use super::event::StreamRef;
use super::requests::RequestKey;
use super::timers::Timer;
use crate::protocol::Protocol;

/// A request that is not answered yet.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Outstanding {
    /// OPEN with this OPEN_MESSAGE_NUMBER, to this peer.
    Open(u16, u32),
    /// CLOSE of a stream.
    Close(StreamRef),
    /// STATUS query about a stream.
    Query(StreamRef),
}

impl Outstanding {
    const fn key(self) -> (u16, RequestKey) {
        match self {
            Self::Open(peer, number) => (peer, RequestKey::Open(number)),
            Self::Close(stream) => (stream.peer, RequestKey::Close(stream.side, stream.stream)),
            Self::Query(stream) => (stream.peer, RequestKey::Query(stream.side, stream.stream)),
        }
    }
}

/// Which deadline.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Deadline {
    /// A request is repeated.
    Repeat(Outstanding),
    /// A request is given up.
    GiveUp(Outstanding),
    /// The return OPEN of a peer has not come.
    Watch(u16, Protocol),
}

impl Endpoint {
    /// Does now what a deadline would bring later. Returns whether there was such a deadline.
    pub fn expire(&mut self, now: u64, deadline: Deadline) -> bool {
        self.advance(now);
        match deadline {
            Deadline::Repeat(request) | Deadline::GiveUp(request) => {
                let (peer, key) = request.key();
                let Some(found) = self.requests.get_mut(&(peer, key)) else { return false };
                match deadline {
                    Deadline::GiveUp(_) => found.deadline = now,
                    // Its own end is not nearer than the repetition.
                    _ => found.deadline = found.deadline.max(now.saturating_add(1)),
                }
                self.timers.cancel(Timer::Request(peer, key));
                self.request_due(now, peer, key);
            }
            Deadline::Watch(peer, protocol) => {
                let timer = Timer::Watch(peer, protocol);
                if !self.timers.is_set(timer) {
                    return false;
                }
                self.timers.cancel(timer);
                self.watch_due(now, peer, protocol);
            }
        }
        true
    }
}
