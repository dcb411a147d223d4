//! What the registers of a device without a block of session management say (Annex 2 5.1, 5.3).

use logical::register::{offset, operation};
use session_management::register::{Carries, Participation, component_tag, tag_counts};
use std::collections::BTreeMap;

/// The register that is read next: whether the device carries messages and streams, then its Component Tag.
pub(super) fn next(words: &BTreeMap<u32, u32>) -> Option<u32> {
    let all = [offset::SOURCE_OPERATIONS, offset::DESTINATION_OPERATIONS, offset::COMPONENT_TAG];
    all.into_iter().find(|at| !words.contains_key(at))
}

/// What the Component Tag says, or would say, beside what the blocks of the device say. `cos`: that of the
/// stream of a tag that names one.
pub(super) fn says_with(
    words: &BTreeMap<u32, u32>,
    tag: u32,
    blocks: &[Participation],
    cos: u8,
) -> Participation {
    let word = |at| words.get(&at).copied().unwrap_or(0);
    let both = word(offset::SOURCE_OPERATIONS) & word(offset::DESTINATION_OPERATIONS);
    let carries =
        Carries { messages: both & operation::MESSAGE != 0, streams: both & operation::STREAMING != 0 };
    let tag = component_tag(tag, cos);
    if tag_counts(blocks, tag, carries) { tag } else { Participation::None }
}

/// What the Component Tag says beside the blocks of the device.
pub(super) fn says(words: &BTreeMap<u32, u32>, blocks: &[Participation], cos: u8) -> Participation {
    says_with(words, words.get(&offset::COMPONENT_TAG).copied().unwrap_or(0), blocks, cos)
}
