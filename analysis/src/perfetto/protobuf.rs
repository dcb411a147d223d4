//! As much of the encoding of protocol buffers as a trace needs.

/// A message that is written field by field.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn tag(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    /// A field of type uint64, int64 or enum.
    pub(super) fn number(&mut self, field: u32, value: u64) -> &mut Self {
        self.tag(field, 0);
        self.varint(value);
        self
    }

    /// A field of type fixed64.
    pub(super) fn fixed(&mut self, field: u32, value: u64) -> &mut Self {
        self.tag(field, 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// A field of type string.
    pub(super) fn text(&mut self, field: u32, text: &str) -> &mut Self {
        self.tag(field, 2);
        self.varint(text.len() as u64);
        self.0.extend(text.as_bytes());
        self
    }

    /// A message within this one.
    pub(super) fn message(&mut self, field: u32, inner: &Self) -> &mut Self {
        self.tag(field, 2);
        self.varint(inner.0.len() as u64);
        self.0.extend(&inner.0);
        self
    }

    pub(super) fn octets(&self) -> &[u8] {
        &self.0
    }
}
