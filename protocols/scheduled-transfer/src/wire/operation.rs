//! The operations of tables 4 to 8, each with the parameters of its row (9.1).

use super::{Error, Flags, Function, Header};

/// Names of the codes, by code.
const NAMES: [&str; 32] = {
    let mut names = ["reserved"; 32];
    let mut index = 0;
    while index < Op::ALL.len() {
        names[Op::ALL[index] as usize] = Op::ALL[index].name();
        index += 1;
    }
    names
};

/// Name of an Op, `"reserved"` if it has none.
#[must_use]
pub const fn name(op: u8) -> &'static str {
    NAMES[(op & 0x1F) as usize]
}

/// Name of an operation: Get, FetchOp and FetchOp_Complete share an Op, and differ in F.
#[must_use]
pub const fn name_of(header: &Header) -> &'static str {
    if header.op & 0x1F != Op::Get as u8 {
        return name(header.op);
    }
    match header.flags.function() {
        0b000 => "Get",
        COMPLETE => "FetchOp_Complete",
        _ => "FetchOp",
    }
}

/// Op codes of table 2.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub enum Op {
    /// Asks for a Virtual Connection.
    RequestConnection = 0x01,
    /// Accepts or rejects it.
    ConnectionAnswer = 0x02,
    /// Begins teardown.
    RequestDisconnect = 0x03,
    /// Second of teardown.
    DisconnectAnswer = 0x04,
    /// Ends teardown.
    DisconnectComplete = 0x05,
    /// Asks for a persistent region.
    RequestMemoryRegion = 0x13,
    /// Grants it.
    MemoryRegionAvailable = 0x14,
    /// Get, FetchOp or FetchOp_Complete, told apart by F.
    Get = 0x15,
    /// Announces a Transfer.
    RequestToSend = 0x16,
    /// Pending or rejected.
    RequestAnswer = 0x17,
    /// Asks for a Transfer.
    RequestToReceive = 0x18,
    /// Permission for one Block.
    ClearToSend = 0x1A,
    /// An STU.
    Data = 0x1B,
    /// Asks for Slots, and perhaps for the state of a Transfer or Block.
    RequestState = 0x1C,
    /// Answers that.
    RequestStateResponse = 0x1D,
    /// Ends a Transfer or region.
    End = 0x1E,
    /// Answers that.
    EndAck = 0x1F,
}

impl Op {
    /// Every operation code.
    pub const ALL: [Self; 17] = [
        Self::RequestConnection,
        Self::ConnectionAnswer,
        Self::RequestDisconnect,
        Self::DisconnectAnswer,
        Self::DisconnectComplete,
        Self::RequestMemoryRegion,
        Self::MemoryRegionAvailable,
        Self::Get,
        Self::RequestToSend,
        Self::RequestAnswer,
        Self::RequestToReceive,
        Self::ClearToSend,
        Self::Data,
        Self::RequestState,
        Self::RequestStateResponse,
        Self::End,
        Self::EndAck,
    ];

    /// The code's operation.
    ///
    /// # Errors
    /// [`Error::UndefinedOpcode`].
    pub const fn parse(code: u8) -> Result<Self, Error> {
        Ok(match code {
            0x01 => Self::RequestConnection,
            0x02 => Self::ConnectionAnswer,
            0x03 => Self::RequestDisconnect,
            0x04 => Self::DisconnectAnswer,
            0x05 => Self::DisconnectComplete,
            0x13 => Self::RequestMemoryRegion,
            0x14 => Self::MemoryRegionAvailable,
            0x15 => Self::Get,
            0x16 => Self::RequestToSend,
            0x17 => Self::RequestAnswer,
            0x18 => Self::RequestToReceive,
            0x1A => Self::ClearToSend,
            0x1B => Self::Data,
            0x1C => Self::RequestState,
            0x1D => Self::RequestStateResponse,
            0x1E => Self::End,
            0x1F => Self::EndAck,
            found => return Err(Error::UndefinedOpcode { found }),
        })
    }

    /// Its name in table 2.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RequestConnection => "Request_Connection",
            Self::ConnectionAnswer => "Connection_Answer",
            Self::RequestDisconnect => "Request_Disconnect",
            Self::DisconnectAnswer => "Disconnect_Answer",
            Self::DisconnectComplete => "Disconnect_Complete",
            Self::RequestMemoryRegion => "Request_Memory_Region",
            Self::MemoryRegionAvailable => "Memory_Region_Available",
            Self::Get => "Get/FetchOp/FetchOp_Complete",
            Self::RequestToSend => "Request_To_Send",
            Self::RequestAnswer => "Request_Answer",
            Self::RequestToReceive => "Request_To_Receive",
            Self::ClearToSend => "Clear_To_Send",
            Self::Data => "Data",
            Self::RequestState => "Request_State",
            Self::RequestStateResponse => "Request_State_Response",
            Self::End => "End",
            Self::EndAck => "End_Ack",
        }
    }
}

/// FetchOp_Complete in F of Op 0x15.
const COMPLETE: u8 = 0b111;

/// One operation without its checksum.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Operation {
    /// Port of the receiver.
    pub d_port: u16,
    /// Port of the sender.
    pub s_port: u16,
    /// Key of the receiver; 0 in Request_Connection.
    pub d_key: u32,
    /// I: signal the receiving upper layer.
    pub interrupt: bool,
    /// What it says.
    pub body: Body,
}

/// The parameters that one row of tables 4 to 8 uses, under the names of the draft. Exponents and lengths are
/// as received: whether they are legal is for the receiver to judge and to log.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[allow(missing_docs, reason = "the fields bear the names of the tables")]
pub enum Body {
    /// C1.
    RequestConnection {
        attributes: u8,
        out_of_order: bool,
        slots: u16,
        ether_type: u16,
        bufsize: u32,
        key: u32,
        max_stu: u32,
    },
    /// C1.
    ConnectionAnswer {
        attributes: u8,
        out_of_order: bool,
        reject: bool,
        slots: u16,
        bufsize: u32,
        key: u32,
        max_stu: u32,
    },
    /// C2; `key` is the sender's.
    RequestDisconnect { key: u32 },
    /// C2; `key` is the sender's.
    DisconnectAnswer { key: u32 },
    /// C2; `key` is the sender's.
    DisconnectComplete { key: u32 },
    /// Com1 to Com3.
    RequestState { sync: u32, b_num: u32, d_id: u32, s_id: u32 },
    /// Com1 to Com3, W4, R5, PG4.
    RequestStateResponse { slots: u16, b_seq: u32, sync: u32, b_num: u32, d_id: u32, s_id: u32 },
    /// Com4.
    End { d_id: u32, s_id: u32 },
    /// Com4.
    EndAck { d_id: u32, s_id: u32 },
    /// W1 (`d_id` 0) and R2.
    RequestToSend { channel: u8, cts_req: u16, max_block: u16, t_len: u64, d_id: u32, s_id: u32 },
    /// W1, R1, R2, PG1, PG5, PG6.
    RequestAnswer { reject: bool, d_id: u32, s_id: u32 },
    /// R1.
    RequestToReceive { channel: u8, t_len: u64, s_id: u32 },
    /// W2, R3.
    ClearToSend {
        blocksize: u16,
        mx: u16,
        bufx: u32,
        offset: u32,
        f_offset: u32,
        b_num: u32,
        d_id: u32,
        s_id: u32,
    },
    /// PG1.
    RequestMemoryRegion { channel: u8, t_len: u64, s_id: u32 },
    /// PG2.
    MemoryRegionAvailable { mx: u16, bufx: u32, offset: u32, d_id: u32, s_id: u32 },
    /// W3, R4, PG3, PG5, PG6; `s_id` is Opaque in W3 and PG3.
    Data {
        silent: bool,
        send_state: bool,
        last: bool,
        channel: u8,
        stu_num: u16,
        mx: u16,
        bufx: u32,
        offset: u32,
        sync: u32,
        b_num: u32,
        d_id: u32,
        s_id: u32,
    },
    /// PG5.
    Get {
        channel: u8,
        t_len: u16,
        mx: u16,
        bufx: u32,
        offset: u32,
        i_bufx: u32,
        i_offset: u32,
        d_id: u32,
        s_id: u32,
    },
    /// PG6.
    FetchOp {
        function: Function,
        channel: u8,
        mx: u16,
        bufx: u32,
        offset: u32,
        i_bufx: u32,
        i_offset: u32,
        d_id: u32,
        s_id: u32,
    },
    /// PG6.
    FetchOpComplete { sync: u32, d_id: u32, s_id: u32 },
}

impl Body {
    /// Its code.
    #[must_use]
    pub const fn op(&self) -> Op {
        match self {
            Self::RequestConnection { .. } => Op::RequestConnection,
            Self::ConnectionAnswer { .. } => Op::ConnectionAnswer,
            Self::RequestDisconnect { .. } => Op::RequestDisconnect,
            Self::DisconnectAnswer { .. } => Op::DisconnectAnswer,
            Self::DisconnectComplete { .. } => Op::DisconnectComplete,
            Self::RequestState { .. } => Op::RequestState,
            Self::RequestStateResponse { .. } => Op::RequestStateResponse,
            Self::End { .. } => Op::End,
            Self::EndAck { .. } => Op::EndAck,
            Self::RequestToSend { .. } => Op::RequestToSend,
            Self::RequestAnswer { .. } => Op::RequestAnswer,
            Self::RequestToReceive { .. } => Op::RequestToReceive,
            Self::ClearToSend { .. } => Op::ClearToSend,
            Self::RequestMemoryRegion { .. } => Op::RequestMemoryRegion,
            Self::MemoryRegionAvailable { .. } => Op::MemoryRegionAvailable,
            Self::Data { .. } => Op::Data,
            Self::Get { .. } | Self::FetchOp { .. } | Self::FetchOpComplete { .. } => Op::Get,
        }
    }

    /// Flags that the operation lists (8.2). Data that answers Get and FetchOp has no S; the caller knows
    /// which it is, see [`GET_DATA_MASK`].
    #[must_use]
    pub const fn mask(&self) -> Flags {
        Flags::from_bits(match self {
            Self::RequestConnection { .. } => 0x750,
            Self::ConnectionAnswer { .. } => 0x754,
            Self::RequestToSend { .. } | Self::RequestToReceive { .. } | Self::RequestMemoryRegion { .. } => {
                0x043
            }
            Self::RequestAnswer { .. } => 0x044,
            Self::Get { .. } | Self::FetchOp { .. } => 0x743,
            Self::FetchOpComplete { .. } => 0x740,
            Self::Data { .. } => 0x0EB,
            _ => 0x040,
        })
    }
}

/// Flags of Data that answers Get or FetchOp.
pub const GET_DATA_MASK: Flags = Flags::from_bits(0x0CB);

impl Operation {
    /// What a header says. Fields that the operation does not use are not looked at (5.1, 6.1, 9.1), and
    /// flags that it does not list are ignored (10.7.7); they are `header.flags.outside(body.mask())`.
    ///
    /// # Errors
    /// [`Error::UndefinedOpcode`], [`Error::ReservedFunction`].
    pub const fn parse(header: &Header) -> Result<Self, Error> {
        let &Header { flags, param, b_id: mx, bufx, offset, sync, b_num, d_id, s_id, .. } = header;
        let channel = flags.channel();
        let op = match Op::parse(header.op) {
            Ok(op) => op,
            Err(error) => return Err(error),
        };
        let body = match op {
            Op::RequestConnection => Body::RequestConnection {
                attributes: flags.function(),
                out_of_order: flags.has(Flags::OUT_OF_ORDER),
                slots: param,
                ether_type: mx,
                bufsize: bufx,
                key: offset,
                max_stu: sync,
            },
            Op::ConnectionAnswer => Body::ConnectionAnswer {
                attributes: flags.function(),
                out_of_order: flags.has(Flags::OUT_OF_ORDER),
                reject: flags.has(Flags::REJECT),
                slots: param,
                bufsize: bufx,
                key: offset,
                max_stu: sync,
            },
            Op::RequestDisconnect => Body::RequestDisconnect { key: offset },
            Op::DisconnectAnswer => Body::DisconnectAnswer { key: offset },
            Op::DisconnectComplete => Body::DisconnectComplete { key: offset },
            Op::RequestState => Body::RequestState { sync, b_num, d_id, s_id },
            Op::RequestStateResponse => {
                Body::RequestStateResponse { slots: param, b_seq: offset, sync, b_num, d_id, s_id }
            }
            Op::End => Body::End { d_id, s_id },
            Op::EndAck => Body::EndAck { d_id, s_id },
            Op::RequestToSend => Body::RequestToSend {
                channel,
                cts_req: param,
                max_block: mx,
                t_len: header.t_len(),
                d_id,
                s_id,
            },
            Op::RequestAnswer => Body::RequestAnswer { reject: flags.has(Flags::REJECT), d_id, s_id },
            Op::RequestToReceive => Body::RequestToReceive { channel, t_len: header.t_len(), s_id },
            Op::ClearToSend => {
                Body::ClearToSend { blocksize: param, mx, bufx, offset, f_offset: sync, b_num, d_id, s_id }
            }
            Op::RequestMemoryRegion => Body::RequestMemoryRegion { channel, t_len: header.t_len(), s_id },
            Op::MemoryRegionAvailable => Body::MemoryRegionAvailable { mx, bufx, offset, d_id, s_id },
            Op::Data => Body::Data {
                silent: flags.has(Flags::SILENT),
                send_state: flags.has(Flags::SEND_STATE),
                last: flags.has(Flags::LAST),
                channel,
                stu_num: param,
                mx,
                bufx,
                offset,
                sync,
                b_num,
                d_id,
                s_id,
            },
            Op::Get => match flags.function() {
                0b000 => Body::Get {
                    channel,
                    t_len: param,
                    mx,
                    bufx,
                    offset,
                    i_bufx: sync,
                    i_offset: b_num,
                    d_id,
                    s_id,
                },
                function @ 0b001..=0b011 => Body::FetchOp {
                    function: match function {
                        0b001 => Function::Increment,
                        0b010 => Function::Decrement,
                        _ => Function::Clear,
                    },
                    channel,
                    mx,
                    bufx,
                    offset,
                    i_bufx: sync,
                    i_offset: b_num,
                    d_id,
                    s_id,
                },
                COMPLETE => Body::FetchOpComplete { sync, d_id, s_id },
                found => return Err(Error::ReservedFunction { found }),
            },
        };
        Ok(Self {
            d_port: header.d_port,
            s_port: header.s_port,
            d_key: header.d_key,
            interrupt: flags.has(Flags::INTERRUPT),
            body,
        })
    }

    /// The header, with every field that the operation does not use 0, and Cksum 0.
    #[must_use]
    pub fn header(&self) -> Header {
        let flags = Flags::NONE.with_if(Flags::INTERRUPT, self.interrupt);
        let base = Header {
            op: self.body.op() as u8,
            flags,
            d_port: self.d_port,
            s_port: self.s_port,
            d_key: self.d_key,
            ..Header::default()
        };
        let t_len_of = |channel: u8, t_len: u64| Header {
            flags: flags.with_channel(channel),
            sync: (t_len >> 32) as u32,
            b_num: t_len as u32,
            ..base
        };
        match self.body {
            Body::RequestConnection {
                attributes,
                out_of_order,
                slots,
                ether_type,
                bufsize,
                key,
                max_stu,
            } => Header {
                flags: flags.with_function(attributes).with_if(Flags::OUT_OF_ORDER, out_of_order),
                param: slots,
                b_id: ether_type,
                bufx: bufsize,
                offset: key,
                sync: max_stu,
                ..base
            },
            Body::ConnectionAnswer { attributes, out_of_order, reject, slots, bufsize, key, max_stu } => {
                Header {
                    flags: flags
                        .with_function(attributes)
                        .with_if(Flags::OUT_OF_ORDER, out_of_order)
                        .with_if(Flags::REJECT, reject),
                    param: slots,
                    bufx: bufsize,
                    offset: key,
                    sync: max_stu,
                    ..base
                }
            }
            Body::RequestDisconnect { key }
            | Body::DisconnectAnswer { key }
            | Body::DisconnectComplete { key } => Header { offset: key, ..base },
            Body::RequestState { sync, b_num, d_id, s_id } => Header { sync, b_num, d_id, s_id, ..base },
            Body::RequestStateResponse { slots, b_seq, sync, b_num, d_id, s_id } => {
                Header { param: slots, offset: b_seq, sync, b_num, d_id, s_id, ..base }
            }
            Body::End { d_id, s_id } | Body::EndAck { d_id, s_id } => Header { d_id, s_id, ..base },
            Body::RequestToSend { channel, cts_req, max_block, t_len, d_id, s_id } => {
                Header { param: cts_req, b_id: max_block, d_id, s_id, ..t_len_of(channel, t_len) }
            }
            Body::RequestAnswer { reject, d_id, s_id } => {
                Header { flags: flags.with_if(Flags::REJECT, reject), d_id, s_id, ..base }
            }
            Body::RequestToReceive { channel, t_len, s_id }
            | Body::RequestMemoryRegion { channel, t_len, s_id } => {
                Header { s_id, ..t_len_of(channel, t_len) }
            }
            Body::ClearToSend { blocksize, mx, bufx, offset, f_offset, b_num, d_id, s_id } => {
                Header { param: blocksize, b_id: mx, bufx, offset, sync: f_offset, b_num, d_id, s_id, ..base }
            }
            Body::MemoryRegionAvailable { mx, bufx, offset, d_id, s_id } => {
                Header { b_id: mx, bufx, offset, d_id, s_id, ..base }
            }
            Body::Data {
                silent,
                send_state,
                last,
                channel,
                stu_num,
                mx,
                bufx,
                offset,
                sync,
                b_num,
                d_id,
                s_id,
            } => Header {
                flags: flags
                    .with_if(Flags::SILENT, silent)
                    .with_if(Flags::SEND_STATE, send_state)
                    .with_if(Flags::LAST, last)
                    .with_channel(channel),
                param: stu_num,
                b_id: mx,
                bufx,
                offset,
                sync,
                b_num,
                d_id,
                s_id,
                ..base
            },
            Body::Get { channel, t_len, mx, bufx, offset, i_bufx, i_offset, d_id, s_id } => Header {
                flags: flags.with_channel(channel),
                param: t_len,
                b_id: mx,
                bufx,
                offset,
                sync: i_bufx,
                b_num: i_offset,
                d_id,
                s_id,
                ..base
            },
            Body::FetchOp { function, channel, mx, bufx, offset, i_bufx, i_offset, d_id, s_id } => Header {
                flags: flags.with_function(function.bits()).with_channel(channel),
                b_id: mx,
                bufx,
                offset,
                sync: i_bufx,
                b_num: i_offset,
                d_id,
                s_id,
                ..base
            },
            Body::FetchOpComplete { sync, d_id, s_id } => {
                Header { flags: flags.with_function(COMPLETE), sync, d_id, s_id, ..base }
            }
        }
    }
}
