//! Colours that say the same wherever they are drawn: in figures, in reports and in the documentation.

use models::probe::Cause;
use plotters::style::RGBColor;

/// Colour of a cause; what the study is about (blocking and backpressure) has the strongest.
pub(crate) fn cause_color(cause: Cause) -> RGBColor {
    match cause {
        Cause::SourceQueue => RGBColor(0xc4, 0xc4, 0xc4),
        Cause::Serialization => RGBColor(0x56, 0xb4, 0xe9),
        Cause::Propagation => RGBColor(0x00, 0x9e, 0x73),
        Cause::Pipeline => RGBColor(0xf0, 0xe4, 0x42),
        Cause::InputContention => RGBColor(0xcc, 0x79, 0xa7),
        Cause::OutputContention => RGBColor(0xe6, 0x9f, 0x00),
        Cause::HeadOfLine => RGBColor(0xd5, 0x5e, 0x00),
        Cause::Staged => RGBColor(0x00, 0x72, 0xb2),
        Cause::NoBuffer => RGBColor(0x30, 0x30, 0x30),
        Cause::Recovery => RGBColor(0x88, 0x22, 0x55),
        Cause::NoAckId => RGBColor(0x66, 0x33, 0xcc),
        Cause::Host => RGBColor(0x7a, 0x5c, 0x3a),
        Cause::Protocol => RGBColor(0x99, 0x99, 0x33),
    }
}
