//! The host: software that takes its time.

use super::protocol::Received;
use super::{Order, Service};
use std::collections::VecDeque;

/// A server for one thing at a time.
///
/// Things lie in boxes: memory that was freed a moment ago is at hand, that of a queue of each of many
/// endpoints is not.
#[derive(Debug)]
pub(crate) struct Server<T> {
    waiting: VecDeque<Box<T>>,
    serving: Option<Box<T>>,
}

impl<T> Default for Server<T> {
    fn default() -> Self {
        Server { waiting: VecDeque::new(), serving: None }
    }
}

impl<T> Server<T> {
    pub fn push(&mut self, item: T) {
        self.waiting.push_back(Box::new(item));
    }

    /// Things that wait or are being served.
    pub fn len(&self) -> usize {
        self.waiting.len() + usize::from(self.serving.is_some())
    }

    /// What waits or is being served.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.serving.iter().chain(&self.waiting).map(|item| &**item)
    }

    /// Takes the next thing up, if the server is free. Without a service time it is done at once and comes
    /// back; otherwise `end` says when it will be.
    pub fn take_up(&mut self, now: u64, service: &mut Service, end: &mut Option<u64>) -> Option<T> {
        if self.serving.is_some() {
            return None;
        }
        let item = self.waiting.pop_front()?;
        match service.draw() {
            0 => Some(*item),
            time => {
                self.serving = Some(item);
                *end = Some(now + time);
                None
            }
        }
    }

    /// Lets those that go first be taken up before others that wait, in their order.
    pub fn bring_forward(&mut self, goes_first: impl Fn(&T) -> bool) {
        if self.serving.is_none()
            && let Some(at) = self.waiting.iter().position(|item| goes_first(item))
            && let Some(item) = self.waiting.remove(at)
        {
            self.waiting.push_front(item);
        }
    }

    /// The end of a service that [`take_up`](Self::take_up) announced.
    pub fn finish(&mut self) -> T {
        *self.serving.take().expect("a service that ends has begun")
    }
}

/// The software side of an endpoint.
#[derive(Debug)]
pub(crate) struct Host {
    pub rx_service: Service,
    pub tx_service: Service,
    /// Places for messages, PDUs and doorbells.
    pub places: u32,
    pub rx: Server<Received>,
    pub tx: Server<Order>,
    pub high_water: u32,
    /// Length of the receive queue times picoseconds, up to `accounted`.
    pub depth_ps: u128,
    pub accounted: u64,
}

impl Host {
    /// Before anything changes at `now`.
    pub fn account(&mut self, now: u64) {
        self.depth_ps += self.depth_ps_since(now);
        self.accounted = now;
    }

    /// What the time up to `now` adds to the integral of the queue's length.
    pub fn depth_ps_since(&self, now: u64) -> u128 {
        self.rx.len() as u128 * u128::from(now - self.accounted)
    }

    /// Whether there is a place beside `reserved` ones.
    pub fn has_room(&self, reserved: usize) -> bool {
        self.rx.len() + reserved < self.places as usize
    }

    /// Something was received whole.
    pub fn take_in(&mut self, received: Received) {
        self.rx.push(received);
        self.high_water = self.high_water.max(self.rx.len() as u32);
    }
}
