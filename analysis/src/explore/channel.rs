//! Messages on their way, for models.

/// The order of delivery.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Order {
    /// As sent.
    Fifo,
    /// Any.
    Any,
}

impl Order {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Fifo, Self::Any];

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Any => "any",
        }
    }

    /// What it says, in words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Fifo => "messages of one node arrive as they were sent",
            Self::Any => "messages overtake one another",
        }
    }
}

/// Messages in one direction. Where their order does not matter they are kept sorted, so that equal contents
/// are equal states.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Channel<M> {
    messages: Vec<M>,
}

impl<M> Default for Channel<M> {
    fn default() -> Self {
        Self { messages: Vec::new() }
    }
}

impl<M: Ord + Clone> Channel<M> {
    /// Appends messages.
    pub fn send(&mut self, order: Order, messages: impl IntoIterator<Item = M>) {
        self.messages.extend(messages);
        if order == Order::Any {
            self.messages.sort_unstable();
        }
    }

    /// Positions with different messages: two equal ones side by side are one choice.
    pub fn choices(&self, order: Order) -> impl Iterator<Item = usize> + '_ {
        let twin =
            move |&at: &usize| order == Order::Fifo || at == 0 || self.messages[at] != self.messages[at - 1];
        (0..self.messages.len()).filter(twin)
    }

    /// Whether the message at a position can be delivered next.
    #[must_use]
    pub fn is_deliverable(&self, order: Order, at: usize) -> bool {
        order == Order::Any || at == 0
    }

    /// The message at a position.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn message(&self, at: usize) -> &M {
        &self.messages[at]
    }

    /// Takes a message out.
    ///
    /// # Panics
    /// If there is none at `at`.
    pub fn take(&mut self, at: usize) -> M {
        self.messages.remove(at)
    }

    /// All messages.
    pub fn iter(&self) -> impl Iterator<Item = &M> {
        self.messages.iter()
    }

    /// Whether none is on its way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}
