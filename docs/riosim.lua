-- What Wireshark and tshark need to read captures of riosim:
--
--   riosim trace scenario.json --pcapng links.pcapng
--   tshark -X lua_script:riosim.lua -r links.pcapng -V
--
-- Generated, not to be edited: the tables of fields are those that `riosim decode` walks, the names those of the
-- documents.

-- By form: { name, first bit, bits, base, names of values }.
local FORMS = {
  ["pseudo"] = {
    { "version", 0, 8, 10 },
    { "header_octets", 8, 8, 10 },
    { "kind", 16, 8, 10, { [1] = "packet", [2] = "control symbol", [3] = "VoQ message" } },
    { "damaged", 24, 1, 10 },
    { "again", 25, 1, 10 },
    { "filler", 26, 1, 10 },
    { "picoseconds", 32, 16, 10 },
    { "body_octets", 48, 16, 10 },
    { "staging_queue", 64, 8, 10 },
    { "cause", 72, 8, 10, { [0] = "source queue", [1] = "serialization", [2] = "propagation", [3] = "pipeline", [4] = "input contention", [5] = "output contention", [6] = "head-of-line blocking", [7] = "staged by backpressure", [8] = "no downstream buffer", [9] = "link retry or recovery", [10] = "no free ackID", [11] = "host", [12] = "flow-controlled by protocol" } },
    { "protocol", 80, 8, 10, { [0] = "data", [1] = "session management", [2] = "RIOCM", [3] = "Scheduled Transfer" } },
    { "flow_octets", 88, 8, 10 },
    { "from_octets", 96, 8, 10 },
    { "to_octets", 104, 8, 10 },
    { "waited_ps", 144, 48, 10 },
  },
  ["short"] = {
    { "stype0", 0, 3, 10, { [0] = "packet-accepted", [1] = "packet-retry", [2] = "packet-not-accepted", [3] = "reserved", [4] = "status", [5] = "VC_status", [6] = "link-response", [7] = "implementation-defined" } },
    { "param0", 3, 5, 10 },
    { "param1", 8, 5, 10 },
    { "stype1", 13, 3, 10 },
    { "cmd", 16, 3, 10 },
    { "crc5", 19, 5, 16 },
  },
  ["long"] = {
    { "stype0", 0, 3, 10, { [0] = "packet-accepted", [1] = "packet-retry", [2] = "packet-not-accepted", [3] = "reserved", [4] = "status", [5] = "VC_status", [6] = "link-response", [7] = "implementation-defined" } },
    { "param0", 3, 6, 10 },
    { "param1", 9, 6, 10 },
    { "stype1", 15, 3, 10 },
    { "cmd", 18, 3, 10 },
    { "stype2", 21, 14, 16 },
    { "crc13", 35, 13, 16 },
  },
  ["stype2"] = {
    { "s2_cmd", 0, 3, 10, { [0] = "NOP", [1] = "VoQ backpressure", [2] = "reserved", [3] = "reserved", [4] = "reserved", [5] = "reserved", [6] = "reserved", [7] = "reserved" } },
    { "s2_param", 3, 11, 16 },
  },
  ["VoQ message"] = {
    { "status", 3, 6, 2 },
    { "group", 9, 5, 10 },
  },
  ["packet"] = {
    { "ackID", 0, 6, 10 },
    { "VC", 6, 1, 10 },
    { "CRF", 7, 1, 10 },
    { "prio", 8, 2, 10 },
    { "tt", 10, 2, 10, { [0] = "Dev8", [1] = "Dev16", [2] = "Dev32", [3] = "reserved" } },
    { "ftype", 12, 4, 10, { [0] = "other", [1] = "other", [2] = "request", [3] = "other", [4] = "other", [5] = "write", [6] = "streaming-write", [7] = "flow-control", [8] = "maintenance", [9] = "data-streaming", [10] = "doorbell", [11] = "message", [12] = "other", [13] = "response", [14] = "other", [15] = "other" } },
  },
  ["read"] = {
    { "transaction", 0, 4, 10, { [0] = "reserved", [1] = "reserved", [2] = "reserved", [3] = "reserved", [4] = "NREAD", [5] = "reserved", [6] = "reserved", [7] = "reserved", [8] = "reserved", [9] = "reserved", [10] = "reserved", [11] = "reserved", [12] = "ATOMIC increment", [13] = "ATOMIC decrement", [14] = "ATOMIC set", [15] = "ATOMIC clear" } },
    { "rdsize", 4, 4, 10 },
    { "srcTID", 8, 8, 10 },
    { "address", 16, 29, 16 },
    { "wdptr", 45, 1, 10 },
    { "xamsbs", 46, 2, 10 },
  },
  ["write"] = {
    { "transaction", 0, 4, 10, { [0] = "reserved", [1] = "reserved", [2] = "reserved", [3] = "reserved", [4] = "NWRITE", [5] = "NWRITE_R", [6] = "reserved", [7] = "reserved", [8] = "reserved", [9] = "reserved", [10] = "reserved", [11] = "reserved", [12] = "ATOMIC swap", [13] = "ATOMIC compare-and-swap", [14] = "ATOMIC test-and-swap", [15] = "reserved" } },
    { "wrsize", 4, 4, 10 },
    { "srcTID", 8, 8, 10 },
    { "address", 16, 29, 16 },
    { "wdptr", 45, 1, 10 },
    { "xamsbs", 46, 2, 10 },
  },
  ["streaming write"] = {
    { "address", 0, 29, 16 },
    { "xamsbs", 30, 2, 10 },
  },
  ["flow control"] = {
    { "XON", 0, 1, 10 },
    { "FAM", 1, 3, 10 },
    { "flowID", 8, 7, 10 },
    { "SOC", 15, 1, 10 },
  },
  ["maintenance request"] = {
    { "transaction", 0, 4, 10, { [0] = "read request", [1] = "write request", [2] = "read response", [3] = "write response", [4] = "port-write request", [5] = "reserved", [6] = "reserved", [7] = "reserved", [8] = "reserved", [9] = "reserved", [10] = "reserved", [11] = "reserved", [12] = "reserved", [13] = "reserved", [14] = "reserved", [15] = "reserved" } },
    { "size", 4, 4, 10 },
    { "srcTID", 8, 8, 10 },
    { "hop_count", 16, 8, 10 },
    { "config_offset", 24, 21, 16 },
    { "wdptr", 45, 1, 10 },
  },
  ["maintenance response"] = {
    { "transaction", 0, 4, 10, { [0] = "read request", [1] = "write request", [2] = "read response", [3] = "write response", [4] = "port-write request", [5] = "reserved", [6] = "reserved", [7] = "reserved", [8] = "reserved", [9] = "reserved", [10] = "reserved", [11] = "reserved", [12] = "reserved", [13] = "reserved", [14] = "reserved", [15] = "reserved" } },
    { "status", 4, 4, 10, { [0] = "DONE", [1] = "reserved", [2] = "reserved", [3] = "RETRY", [4] = "reserved", [5] = "reserved", [6] = "reserved", [7] = "ERROR", [8] = "reserved", [9] = "reserved", [10] = "reserved", [11] = "reserved", [12] = "reserved", [13] = "reserved", [14] = "reserved", [15] = "reserved" } },
    { "targetTID", 8, 8, 10 },
    { "hop_count", 16, 8, 10 },
  },
  ["single segment"] = {
    { "cos", 0, 8, 10 },
    { "S", 8, 1, 10 },
    { "E", 9, 1, 10 },
    { "xh", 13, 1, 10 },
    { "O", 14, 1, 10 },
    { "P", 15, 1, 10 },
    { "streamID", 16, 16, 10 },
  },
  ["start segment"] = {
    { "cos", 0, 8, 10 },
    { "S", 8, 1, 10 },
    { "E", 9, 1, 10 },
    { "xh", 13, 1, 10 },
    { "streamID", 16, 16, 10 },
  },
  ["continuation segment"] = {
    { "cos", 0, 8, 10 },
    { "S", 8, 1, 10 },
    { "E", 9, 1, 10 },
    { "xh", 13, 1, 10 },
  },
  ["end segment"] = {
    { "cos", 0, 8, 10 },
    { "S", 8, 1, 10 },
    { "E", 9, 1, 10 },
    { "xh", 13, 1, 10 },
    { "O", 14, 1, 10 },
    { "P", 15, 1, 10 },
    { "length", 16, 16, 10 },
  },
  ["traffic management"] = {
    { "cos", 0, 8, 10 },
    { "xtype", 10, 3, 10 },
    { "xh", 13, 1, 10 },
    { "streamID", 16, 16, 10 },
    { "TM_OP", 32, 4, 10, { [0] = "basic", [1] = "rate", [2] = "credit", [3] = "application", [4] = "reserved", [5] = "reserved", [6] = "reserved", [7] = "reserved", [8] = "reserved", [9] = "reserved", [10] = "reserved", [11] = "reserved", [12] = "reserved", [13] = "reserved", [14] = "reserved", [15] = "reserved" } },
    { "wildcard", 37, 3, 2 },
    { "mask", 40, 8, 16 },
    { "parameter1", 48, 8, 16 },
    { "parameter2", 56, 8, 16 },
  },
  ["doorbell"] = {
    { "srcTID", 8, 8, 10 },
    { "info", 16, 16, 16 },
  },
  ["message"] = {
    { "msglen", 0, 4, 10 },
    { "ssize", 4, 4, 10 },
    { "letter", 8, 2, 10 },
    { "mbox", 10, 2, 10 },
    { "msgseg", 12, 4, 10 },
  },
  ["response"] = {
    { "transaction", 0, 4, 10, { [0] = "without data", [1] = "message", [2] = "reserved", [3] = "reserved", [4] = "reserved", [5] = "reserved", [6] = "reserved", [7] = "reserved", [8] = "with data", [9] = "reserved", [10] = "reserved", [11] = "reserved", [12] = "reserved", [13] = "reserved", [14] = "reserved", [15] = "reserved" } },
    { "status", 4, 4, 10, { [0] = "DONE", [1] = "reserved", [2] = "reserved", [3] = "RETRY", [4] = "reserved", [5] = "reserved", [6] = "reserved", [7] = "ERROR", [8] = "reserved", [9] = "reserved", [10] = "reserved", [11] = "reserved", [12] = "reserved", [13] = "reserved", [14] = "reserved", [15] = "reserved" } },
    { "targetTID", 8, 8, 10 },
  },
  ["ACCEPT"] = {
    { "DestID", 16, 16, 16 },
    { "COS", 40, 8, 16 },
    { "StreamID", 48, 16, 16 },
    { "ProtoID", 64, 16, 16 },
    { "numAttributes", 80, 16, 10 },
  },
  ["ADVERTISE"] = {
    { "SourceID", 16, 16, 16 },
    { "DestID", 32, 16, 16 },
    { "S", 48, 1, 10 },
    { "A", 49, 1, 10 },
    { "Count", 50, 14, 10 },
  },
  ["CLOSE"] = {
    { "SourceID", 16, 16, 16 },
    { "DestID", 32, 16, 16 },
    { "COS", 48, 8, 16 },
    { "StreamID", 64, 16, 16 },
  },
  ["DATA"] = {
    { "Mailbox", 16, 8, 10 },
    { "COS", 24, 8, 16 },
    { "SourceID", 48, 16, 16 },
    { "S", 64, 1, 10 },
    { "E", 65, 1, 10 },
    { "Length", 68, 12, 10 },
    { "PDU-Length", 80, 16, 10 },
  },
  ["DATA with StreamID"] = {
    { "Mailbox", 16, 8, 10 },
    { "COS", 24, 8, 16 },
    { "SourceID", 48, 16, 16 },
    { "S", 64, 1, 10 },
    { "E", 65, 1, 10 },
    { "Length", 68, 12, 10 },
    { "StreamID", 80, 16, 16 },
  },
  ["DATA1"] = {
    { "Mailbox", 16, 8, 10 },
    { "COS", 24, 8, 16 },
    { "SourceID", 48, 16, 16 },
    { "S", 64, 1, 10 },
    { "E", 65, 1, 10 },
    { "Length", 66, 30, 10 },
    { "PDU-Length", 96, 32, 10 },
  },
  ["DATA1 with StreamID"] = {
    { "Mailbox", 16, 8, 10 },
    { "COS", 24, 8, 16 },
    { "SourceID", 48, 16, 16 },
    { "S", 64, 1, 10 },
    { "E", 65, 1, 10 },
    { "Length", 66, 30, 10 },
    { "StreamID", 96, 16, 16 },
  },
  ["DATA2"] = {
    { "Implementation-Specific", 8, 8, 16 },
    { "S", 16, 1, 10 },
    { "E", 17, 1, 10 },
    { "Length", 18, 14, 10 },
  },
  ["FLOW_CONTROL"] = {
    { "COS", 16, 8, 16 },
    { "Flow_Control", 24, 8, 16, { [0] = "XOFF", [1] = "XON", [255] = "RTS" } },
    { "SourceID", 32, 16, 16 },
    { "StreamID", 48, 16, 16 },
    { "ProtoID", 64, 16, 16 },
  },
  ["OPEN"] = {
    { "SourceID", 16, 16, 16 },
    { "ProtoID", 32, 16, 16 },
    { "numAttributes", 48, 16, 10 },
  },
  ["REFUSE"] = {
    { "DestID", 16, 16, 16 },
    { "ProtoID", 64, 16, 16 },
    { "numAttributes", 80, 16, 10 },
  },
  ["REQUEST"] = {
    { "SourceID", 16, 16, 16 },
    { "DestID", 32, 16, 16 },
    { "COS", 48, 8, 16 },
    { "ProtoID", 64, 16, 16 },
    { "NumAttrib", 80, 16, 10 },
  },
  ["STATUS"] = {
    { "COS", 16, 8, 16 },
    { "DataSize", 24, 8, 10 },
    { "SourceID", 32, 16, 16 },
    { "StreamID", 48, 16, 16 },
    { "Mailbox", 64, 8, 10 },
    { "CmdID", 80, 8, 16 },
    { "CmdVersion", 88, 8, 16 },
    { "Status", 96, 32, 16 },
  },
  ["USERDEFINED"] = {
    { "CMD", 0, 8, 16 },
    { "COS", 16, 8, 16 },
    { "SourceID", 32, 16, 16 },
    { "StreamID", 48, 16, 16 },
  },
  ["attribute VENDOR"] = {
    { "value", 8, 56, 256 },
  },
  ["attribute PROTOCOL_NAME"] = {
    { "value", 8, 56, 256 },
  },
  ["attribute DATA_OFFSET_VENDOR"] = {
    { "value", 8, 56, 256 },
  },
  ["attribute CONVEYANCE"] = {
    { "channel", 16, 16, 16 },
    { "info", 32, 32, 16 },
  },
  ["attribute MTU"] = {
    { "value", 48, 16, 10 },
  },
  ["attribute MAC_ADDRESS"] = {
    { "value", 16, 48, 256 },
  },
  ["attribute DATA_OFFSET"] = {
    { "Offset", 16, 8, 10 },
    { "Vendor", 24, 40, 256 },
  },
  ["attribute REQUEST_RETRY_PERIOD"] = {
    { "value", 32, 32, 10 },
  },
  ["attribute REQUEST_TIMEOUT_PERIOD"] = {
    { "value", 32, 32, 10 },
  },
  ["attribute FLOW_CONTROL_XON_TIMEOUT_PERIOD"] = {
    { "value", 32, 32, 10 },
  },
  ["attribute OPEN_MESSAGE_NUMBER"] = {
    { "value", 32, 32, 16 },
  },
  ["attribute CONDUIT_STREAM"] = {
    { "transmit", 32, 16, 16 },
    { "receive", 48, 16, 16 },
  },
  ["attribute DATA_HEADER_FORMAT"] = {
    { "impl", 48, 8, 16 },
    { "format", 56, 8, 16 },
  },
  ["RIOCM RIO_SINGLE"] = {
    { "type", 32, 8, 16, { [1] = "RIO_SINGLE", [2] = "RIO_FRAG_START", [3] = "RIO_FRAG", [4] = "RIO_PATCH_START", [5] = "RIO_PATCH", [6] = "RIO_HEARTBEAT", [129] = "RIO_CONN_REQ", [130] = "RIO_CONN_ACK", [131] = "RIO_CONN_RESET" } },
    { "size", 16, 16, 10 },
    { "dst_port", 64, 16, 10 },
    { "sender", 96, 16, 10 },
    { "src_port", 112, 16, 10 },
    { "src", 128, 32, 10 },
    { "dst", 160, 32, 10 },
    { "payl_size", 192, 32, 10 },
    { "dst_cid", 80, 16, 10 },
    { "seqno", 48, 16, 10 },
    { "msgid", 40, 8, 10 },
  },
  ["RIOCM RIO_FRAG_START"] = {
    { "type", 32, 8, 16, { [1] = "RIO_SINGLE", [2] = "RIO_FRAG_START", [3] = "RIO_FRAG", [4] = "RIO_PATCH_START", [5] = "RIO_PATCH", [6] = "RIO_HEARTBEAT", [129] = "RIO_CONN_REQ", [130] = "RIO_CONN_ACK", [131] = "RIO_CONN_RESET" } },
    { "size", 16, 16, 10 },
    { "dst_port", 64, 16, 10 },
    { "sender", 96, 16, 10 },
    { "src_port", 112, 16, 10 },
    { "src", 128, 32, 10 },
    { "dst", 160, 32, 10 },
    { "payl_size", 192, 32, 10 },
    { "dst_cid", 80, 16, 10 },
    { "seqno", 48, 16, 10 },
    { "msgid", 40, 8, 10 },
  },
  ["RIOCM RIO_FRAG"] = {
    { "type", 32, 8, 16, { [1] = "RIO_SINGLE", [2] = "RIO_FRAG_START", [3] = "RIO_FRAG", [4] = "RIO_PATCH_START", [5] = "RIO_PATCH", [6] = "RIO_HEARTBEAT", [129] = "RIO_CONN_REQ", [130] = "RIO_CONN_ACK", [131] = "RIO_CONN_RESET" } },
    { "size", 16, 16, 10 },
    { "dst_port", 64, 16, 10 },
    { "sender", 96, 16, 10 },
    { "src_port", 112, 16, 10 },
    { "dst_cid", 80, 16, 10 },
    { "seqno", 48, 16, 10 },
    { "msgid", 40, 8, 10 },
  },
  ["RIOCM RIO_PATCH_START"] = {
    { "type", 32, 8, 16, { [1] = "RIO_SINGLE", [2] = "RIO_FRAG_START", [3] = "RIO_FRAG", [4] = "RIO_PATCH_START", [5] = "RIO_PATCH", [6] = "RIO_HEARTBEAT", [129] = "RIO_CONN_REQ", [130] = "RIO_CONN_ACK", [131] = "RIO_CONN_RESET" } },
    { "size", 16, 16, 10 },
    { "dst_port", 64, 16, 10 },
    { "sender", 96, 16, 10 },
    { "src_port", 112, 16, 10 },
    { "src", 128, 32, 10 },
    { "dst", 160, 32, 10 },
    { "payl_size", 192, 32, 10 },
    { "count_frag", 224, 16, 10 },
    { "count_patch", 240, 16, 10 },
    { "dst_cid", 80, 16, 10 },
    { "seqno", 48, 16, 10 },
    { "msgid", 40, 8, 10 },
  },
  ["RIOCM RIO_PATCH"] = {
    { "type", 32, 8, 16, { [1] = "RIO_SINGLE", [2] = "RIO_FRAG_START", [3] = "RIO_FRAG", [4] = "RIO_PATCH_START", [5] = "RIO_PATCH", [6] = "RIO_HEARTBEAT", [129] = "RIO_CONN_REQ", [130] = "RIO_CONN_ACK", [131] = "RIO_CONN_RESET" } },
    { "size", 16, 16, 10 },
    { "dst_port", 64, 16, 10 },
    { "sender", 96, 16, 10 },
    { "src_port", 112, 16, 10 },
    { "dst_cid", 80, 16, 10 },
    { "seqno", 48, 16, 10 },
    { "msgid", 40, 8, 10 },
  },
  ["RIOCM RIO_HEARTBEAT"] = {
    { "type", 32, 8, 16, { [1] = "RIO_SINGLE", [2] = "RIO_FRAG_START", [3] = "RIO_FRAG", [4] = "RIO_PATCH_START", [5] = "RIO_PATCH", [6] = "RIO_HEARTBEAT", [129] = "RIO_CONN_REQ", [130] = "RIO_CONN_ACK", [131] = "RIO_CONN_RESET" } },
    { "size", 16, 16, 10 },
    { "dst_port", 64, 16, 10 },
    { "sender", 96, 16, 10 },
    { "src_port", 112, 16, 10 },
    { "dst_cid", 80, 16, 10 },
    { "pad", 40, 8, 16 },
    { "rsvd", 48, 16, 16 },
  },
  ["RIOCM RIO_CONN_REQ"] = {
    { "type", 32, 8, 16, { [1] = "RIO_SINGLE", [2] = "RIO_FRAG_START", [3] = "RIO_FRAG", [4] = "RIO_PATCH_START", [5] = "RIO_PATCH", [6] = "RIO_HEARTBEAT", [129] = "RIO_CONN_REQ", [130] = "RIO_CONN_ACK", [131] = "RIO_CONN_RESET" } },
    { "size", 16, 16, 10 },
    { "dst_port", 64, 16, 10 },
    { "sender", 96, 16, 10 },
    { "src_port", 112, 16, 10 },
    { "generation", 40, 8, 10 },
    { "mtu", 48, 16, 10 },
    { "hb_tmo", 88, 8, 10 },
    { "rsvd", 80, 8, 16 },
  },
  ["RIOCM RIO_CONN_ACK"] = {
    { "type", 32, 8, 16, { [1] = "RIO_SINGLE", [2] = "RIO_FRAG_START", [3] = "RIO_FRAG", [4] = "RIO_PATCH_START", [5] = "RIO_PATCH", [6] = "RIO_HEARTBEAT", [129] = "RIO_CONN_REQ", [130] = "RIO_CONN_ACK", [131] = "RIO_CONN_RESET" } },
    { "size", 16, 16, 10 },
    { "dst_port", 64, 16, 10 },
    { "sender", 96, 16, 10 },
    { "src_port", 112, 16, 10 },
    { "generation", 40, 8, 10 },
    { "mtu_ack", 48, 16, 10 },
    { "generation_ack", 80, 8, 10 },
    { "hb_tmo_ack", 88, 8, 10 },
    { "my_cid", 128, 16, 10 },
  },
  ["RIOCM RIO_CONN_RESET"] = {
    { "type", 32, 8, 16, { [1] = "RIO_SINGLE", [2] = "RIO_FRAG_START", [3] = "RIO_FRAG", [4] = "RIO_PATCH_START", [5] = "RIO_PATCH", [6] = "RIO_HEARTBEAT", [129] = "RIO_CONN_REQ", [130] = "RIO_CONN_ACK", [131] = "RIO_CONN_RESET" } },
    { "size", 16, 16, 10 },
    { "dst_port", 64, 16, 10 },
    { "sender", 96, 16, 10 },
    { "src_port", 112, 16, 10 },
    { "generation", 40, 8, 10 },
    { "mtu", 48, 16, 10 },
    { "rsvd", 80, 16, 16 },
  },
  ["ST"] = {
    { "op", 0, 5, 16, { [0] = "reserved", [1] = "Request_Connection", [2] = "Connection_Answer", [3] = "Request_Disconnect", [4] = "Disconnect_Answer", [5] = "Disconnect_Complete", [6] = "reserved", [7] = "reserved", [8] = "reserved", [9] = "reserved", [10] = "reserved", [11] = "reserved", [12] = "reserved", [13] = "reserved", [14] = "reserved", [15] = "reserved", [16] = "reserved", [17] = "reserved", [18] = "reserved", [19] = "Request_Memory_Region", [20] = "Memory_Region_Available", [21] = "Get/FetchOp/FetchOp_Complete", [22] = "Request_To_Send", [23] = "Request_Answer", [24] = "Request_To_Receive", [25] = "reserved", [26] = "Clear_To_Send", [27] = "Data", [28] = "Request_State", [29] = "Request_State_Response", [30] = "End", [31] = "End_Ack" } },
    { "f", 5, 3, 2 },
    { "t", 8, 1, 10 },
    { "i", 9, 1, 10 },
    { "s", 10, 1, 10 },
    { "o", 11, 1, 10 },
    { "l", 12, 1, 10 },
    { "r", 13, 1, 10 },
    { "d", 14, 2, 10 },
    { "param", 16, 16, 16 },
    { "d_port", 32, 16, 16 },
    { "s_port", 48, 16, 16 },
    { "d_key", 64, 32, 16 },
    { "cksum", 96, 16, 16 },
    { "b_id", 112, 16, 16 },
    { "bufx", 128, 32, 16 },
    { "offset", 160, 32, 16 },
    { "sync", 192, 32, 16 },
    { "b_num", 224, 32, 16 },
    { "d_id", 256, 32, 16 },
    { "s_id", 288, 32, 16 },
  },
}

-- By form of a packet: its ftype, octets behind the device IDs, and fields by whose values it is known.
local PACKETS = {
  { name = "read", ftype = 2, octets = 6, second = "sourceID", known = {  } },
  { name = "write", ftype = 5, octets = 6, second = "sourceID", known = {  } },
  { name = "streaming write", ftype = 6, octets = 4, second = "sourceID", known = {  } },
  { name = "flow control", ftype = 7, octets = 2, second = "tgtdestinationID", known = {  } },
  { name = "maintenance request", ftype = 8, octets = 6, second = "sourceID", known = { { 0, 4, { [0] = true, [1] = true, [4] = true } } } },
  { name = "maintenance response", ftype = 8, octets = 6, second = "sourceID", known = { { 0, 4, { [2] = true, [3] = true } } } },
  { name = "single segment", ftype = 9, octets = 4, second = "sourceID", known = { { 8, 1, { [1] = true } }, { 9, 1, { [1] = true } }, { 13, 1, { [0] = true } } } },
  { name = "start segment", ftype = 9, octets = 4, second = "sourceID", known = { { 8, 1, { [1] = true } }, { 9, 1, { [0] = true } }, { 13, 1, { [0] = true } } } },
  { name = "continuation segment", ftype = 9, octets = 2, second = "sourceID", known = { { 8, 1, { [0] = true } }, { 9, 1, { [0] = true } }, { 13, 1, { [0] = true } } } },
  { name = "end segment", ftype = 9, octets = 4, second = "sourceID", known = { { 8, 1, { [0] = true } }, { 9, 1, { [1] = true } }, { 13, 1, { [0] = true } } } },
  { name = "traffic management", ftype = 9, octets = 8, second = "sourceID", known = { { 10, 3, { [0] = true } }, { 13, 1, { [1] = true } } } },
  { name = "doorbell", ftype = 10, octets = 4, second = "sourceID", known = {  } },
  { name = "message", ftype = 11, octets = 2, second = "sourceID", known = {  } },
  { name = "response", ftype = 13, octets = 2, second = "sourceID", known = {  } },
}

-- By command of session management: its form, octets of its header, the list behind it and what counts it.
local SESSION = {
  [1] = { name = "REQUEST", form = "REQUEST", header = 16, list = "attributes", count = "NumAttrib" },
  [2] = { name = "ADVERTISE", form = "ADVERTISE", header = 8, list = "protocols" },
  [3] = { name = "OPEN", form = "OPEN", header = 8, list = "attributes", count = "numAttributes" },
  [4] = { name = "ACCEPT", form = "ACCEPT", header = 12, list = "attributes", count = "numAttributes" },
  [5] = { name = "REFUSE", form = "REFUSE", header = 12, list = "attributes", count = "numAttributes" },
  [6] = { name = "DATA", form = "DATA", header = 12, form_with_stream = "DATA with StreamID" },
  [7] = { name = "FLOW_CONTROL", form = "FLOW_CONTROL", header = 16 },
  [8] = { name = "CLOSE", form = "CLOSE", header = 16 },
  [9] = { name = "DATA1", form = "DATA1", header = 16, form_with_stream = "DATA1 with StreamID" },
  [10] = { name = "DATA2", form = "DATA2", header = 4 },
  [16] = { name = "STATUS", form = "STATUS", header = 16 },
  [240] = { name = "USERDEFINED", form = "USERDEFINED", header = 8 },
}

-- Attributes of session management: name, and the octets with which it begins.
local ATTRIBUTES = {
  { "VENDOR", "00" },
  { "PROTOCOL_NAME", "01" },
  { "DATA_OFFSET_VENDOR", "02" },
  { "CONVEYANCE", "8001" },
  { "MTU", "8002" },
  { "MAC_ADDRESS", "8003" },
  { "DATA_OFFSET", "8003" },
  { "REQUEST_RETRY_PERIOD", "F0000000" },
  { "REQUEST_TIMEOUT_PERIOD", "F0000001" },
  { "FLOW_CONTROL_XON_TIMEOUT_PERIOD", "F0000002" },
  { "OPEN_MESSAGE_NUMBER", "F0000003" },
  { "CONDUIT_STREAM", "F0000004" },
  { "DATA_HEADER_FORMAT", "F0000005" },
}

-- By type of RIOCM: octets of its header, and whether a payload follows.
local RIOCM = {
  [1] = { name = "RIO_SINGLE", header = 28, data = true },
  [2] = { name = "RIO_FRAG_START", header = 28, data = true },
  [3] = { name = "RIO_FRAG", header = 16, data = true },
  [4] = { name = "RIO_PATCH_START", header = 32, data = true },
  [5] = { name = "RIO_PATCH", header = 16, data = true },
  [6] = { name = "RIO_HEARTBEAT", header = 16, data = false },
  [129] = { name = "RIO_CONN_REQ", header = 16, data = false },
  [130] = { name = "RIO_CONN_ACK", header = 18, data = false },
  [131] = { name = "RIO_CONN_RESET", header = 16, data = false },
}

-- Numbers and names that are no field.
local NAMED = {
  { "pseudo", "flow", "text" },
  { "pseudo", "from", "text" },
  { "pseudo", "to", "text" },
  { "symbol", "delimiter", "text" },
  { "symbol", "param0_means", "text" },
  { "symbol", "param1_means", "text" },
  { "symbol", "cause_name", "text" },
  { "symbol", "port_status_name", "text" },
  { "symbol", "stype1_name", "text" },
  { "VoQ message", "congested", "text" },
  { "packet", "virtual_channel", "number" },
  { "packet", "body_bytes", "number" },
  { "packet", "destinationID", "hex" },
  { "packet", "sourceID", "hex" },
  { "packet", "tgtdestinationID", "hex" },
  { "packet", "crc16_first", "hex" },
  { "packet", "crc16", "hex" },
  { "packet", "padding_bytes", "number" },
  { "filler", "destination", "hex" },
  { "filler", "number", "number" },
  { "filler", "data", "octets" },
  { "session", "command", "text" },
  { "session", "attribute", "text" },
  { "session", "octets", "octets" },
  { "session", "payload", "octets" },
  { "session", "ProtoID", "hex" },
  { "session", "numAttributes", "number" },
  { "RIOCM", "protocol", "hex" },
  { "RIOCM", "payload", "octets" },
  { "ST", "payload", "octets" },
  { "ST", "d_ula", "wide" },
  { "ST", "s_ula", "wide" },
  { "read", "data", "octets" },
  { "read", "byte_address", "wide" },
  { "write", "data", "octets" },
  { "write", "byte_address", "wide" },
  { "streaming write", "data", "octets" },
  { "streaming write", "byte_address", "wide" },
  { "flow control", "data", "octets" },
  { "maintenance request", "data", "octets" },
  { "maintenance response", "data", "octets" },
  { "single segment", "data", "octets" },
  { "start segment", "data", "octets" },
  { "continuation segment", "data", "octets" },
  { "end segment", "data", "octets" },
  { "traffic management", "data", "octets" },
  { "doorbell", "data", "octets" },
  { "message", "data", "octets" },
  { "response", "data", "octets" },
}
local VERSION = 1
local PSEUDO = 24
local CAUSES = { [0] = "source queue", [1] = "serialization", [2] = "propagation", [3] = "pipeline", [4] = "input contention", [5] = "output contention", [6] = "head-of-line blocking", [7] = "staged by backpressure", [8] = "no downstream buffer", [9] = "link retry or recovery", [10] = "no free ackID", [11] = "host", [12] = "flow-controlled by protocol" }
local FTYPES = { [0] = "other", [1] = "other", [2] = "request", [3] = "other", [4] = "other", [5] = "write", [6] = "streaming-write", [7] = "flow-control", [8] = "maintenance", [9] = "data-streaming", [10] = "doorbell", [11] = "message", [12] = "other", [13] = "response", [14] = "other", [15] = "other" }
local DELIMITERS = { [124] = "PD", [28] = "SC" }
local STYPE0 = { [0] = "packet-accepted", [1] = "packet-retry", [2] = "packet-not-accepted", [3] = "reserved", [4] = "status", [5] = "VC_status", [6] = "link-response", [7] = "implementation-defined" }
local STYPE1 = { [0] = "start-of-packet", [8] = "stomp", [16] = "end-of-packet", [24] = "restart-from-retry", [34] = "link-request/reset-port", [35] = "link-request/reset-device", [36] = "link-request/input-status", [40] = "multicast-event", [56] = "NOP" }
local MEANINGS = {
  { "param0_means", "stype0", nil, { [0] = "packet_ackID", [1] = "packet_ackID", [2] = "arbitrary", [3] = "reserved", [4] = "ackID_status", [5] = "VCID", [6] = "ackID_status", [7] = "implementation-defined" } },
  { "param1_means", "stype0", nil, { [0] = "buf_status", [1] = "buf_status", [2] = "cause", [3] = "reserved", [4] = "buf_status", [5] = "buf_status", [6] = "port_status", [7] = "implementation-defined" } },
  { "cause_name", "param1", 2, { [1] = "unexpected-ackID", [2] = "symbol-CRC", [3] = "non-maintenance-stopped", [4] = "packet-CRC", [5] = "illegal-character", [6] = "lack-of-resources", [7] = "descrambler-sync", [31] = "general", [33] = "unexpected-ackID", [34] = "symbol-CRC", [35] = "non-maintenance-stopped", [36] = "packet-CRC", [37] = "illegal-character", [38] = "lack-of-resources", [39] = "descrambler-sync", [63] = "general" } },
  { "port_status_name", "param1", 6, { [2] = "error", [4] = "retry-stopped", [5] = "error-stopped", [16] = "OK", [34] = "error", [36] = "retry-stopped", [37] = "error-stopped", [48] = "OK" } },
}
local FIRST_OF_STYPE2 = 21
local FIRST_PART = 80
local LONGEST = 280
local DATA_STREAMING = 9
local USER_DEFINED = 240
local RIOCM_PROTOCOL = 8911
local ST_HEADER = 40
local ST_OPERATIONS = { [0] = "reserved", [1] = "Request_Connection", [2] = "Connection_Answer", [3] = "Request_Disconnect", [4] = "Disconnect_Answer", [5] = "Disconnect_Complete", [6] = "reserved", [7] = "reserved", [8] = "reserved", [9] = "reserved", [10] = "reserved", [11] = "reserved", [12] = "reserved", [13] = "reserved", [14] = "reserved", [15] = "reserved", [16] = "reserved", [17] = "reserved", [18] = "reserved", [19] = "Request_Memory_Region", [20] = "Memory_Region_Available", [21] = "Get/FetchOp/FetchOp_Complete", [22] = "Request_To_Send", [23] = "Request_Answer", [24] = "Request_To_Receive", [25] = "reserved", [26] = "Clear_To_Send", [27] = "Data", [28] = "Request_State", [29] = "Request_State_Response", [30] = "End", [31] = "End_Ack" }
local ETHERNET_OVERHEAD = 22
local ETHER_TYPE = 33153
local SNAP = "AAAA030000008181"
local CRC = {
  short = { name = "crc5", bits = 5, polynomial = 21, seed = 31, covers = 19, zeros = 1 },
  long = { name = "crc13", bits = 13, polynomial = 1317, seed = 0, covers = 35, zeros = 0 },
  packet = { name = "crc16", bits = 16, polynomial = 4129, seed = 65535, covers = 0, zeros = 0 },
}

local rapidio = Proto("riosim", "RapidIO link")
local bad = ProtoExpert.new("riosim.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
local told = ProtoExpert.new("riosim.told", "The link", expert.group.SEQUENCE, expert.severity.NOTE)
rapidio.experts = { bad, told }

-- Fields ----------------------------------------------------------------------------------------------------

local registered, fields = {}, {}

local function abbreviation(form, name)
  return "riosim." .. form:gsub("[^%w]", "_") .. "." .. name:gsub("[^%w_-]", "_")
end

local function declare(form, name, make)
  local key = abbreviation(form, name)
  fields[key] = make(key)
  registered[#registered + 1] = fields[key]
end

for form, rows in pairs(FORMS) do
  for _, row in ipairs(rows) do
    local name, bits, notation, names = row[1], row[3], row[4], row[5]
    declare(form, name, function(key)
      if notation == 256 then
        return ProtoField.bytes(key, name)
      end
      local make = bits > 32 and ProtoField.uint64 or ProtoField.uint32
      return make(key, name, notation == 10 and base.DEC or base.HEX, names)
    end)
  end
end

for _, form in ipairs(NAMED) do
  declare(form[1], form[2], function(key)
    return form[3] == "octets" and ProtoField.bytes(key, form[2])
      or form[3] == "text" and ProtoField.string(key, form[2])
      or form[3] == "wide" and ProtoField.uint64(key, form[2], base.HEX)
      or ProtoField.uint32(key, form[2], form[3] == "hex" and base.HEX or base.DEC)
  end)
end

rapidio.fields = registered

local function add(tree, form, name, range, value)
  local field = fields[abbreviation(form, name)]
  if value == nil then
    return tree:add(field, range)
  end
  return tree:add(field, range, value)
end

local function wrong(tree, text)
  tree:add_proto_expert_info(bad, text)
end

-- The number in these bits of octets; more than 32 bits are a UInt64.
local function number(octets, first, bits)
  local from = math.floor(first / 8)
  local upto = math.ceil((first + bits) / 8)
  return octets:range(from, upto - from):bitfield(first - 8 * from, bits), octets:range(from, upto - from)
end

-- Shows the fields of a form in octets; their values by name, or nothing if the octets end before.
local function walk(form, octets, tree, shift)
  local values = {}
  for _, row in ipairs(FORMS[form]) do
    local name, first, bits, notation = row[1], row[2] + (shift or 0), row[3], row[4]
    if math.ceil((first + bits) / 8) > octets:len() then
      wrong(tree, "the octets end before " .. name)
      return nil
    end
    if notation == 256 then
      add(tree, form, name, octets:range(first / 8, bits / 8))
    else
      local value, range = number(octets, first, bits)
      values[name] = value
      add(tree, form, name, range, value)
    end
  end
  return values
end

-- CRCs ------------------------------------------------------------------------------------------------------

local XOR = {}
for a = 0, 15 do
  XOR[a] = {}
  for b = 0, 15 do
    local sum, bit = 0, 1
    local p, q = a, b
    for _ = 1, 4 do
      if p % 2 ~= q % 2 then
        sum = sum + bit
      end
      p, q, bit = math.floor(p / 2), math.floor(q / 2), 2 * bit
    end
    XOR[a][b] = sum
  end
end

local function xor(a, b)
  local sum, unit = 0, 1
  while a > 0 or b > 0 do
    sum = sum + XOR[a % 16][b % 16] * unit
    a, b, unit = math.floor(a / 16), math.floor(b / 16), unit * 16
  end
  return sum
end

-- Most significant bit first.
local function shift_in(crc, bit, code)
  local top = 2 ^ (code.bits - 1)
  local out = crc >= top and 1 or 0
  crc = (crc * 2) % (2 * top)
  return out ~= bit and xor(crc, code.polynomial) or crc
end

-- CRC of the first bits of octets.
local function crc_of_bits(octets, bits, code)
  local crc = code.seed
  for bit = 0, bits - 1 do
    crc = shift_in(crc, octets:range(math.floor(bit / 8), 1):bitfield(bit % 8, 1), code)
  end
  for _ = 1, code.zeros do
    crc = shift_in(crc, 0, code)
  end
  return crc
end

local CRC16 = {}
for octet = 0, 255 do
  local crc = 0
  for bit = 7, 0, -1 do
    crc = shift_in(crc, math.floor(octet / 2 ^ bit) % 2, CRC.packet)
  end
  CRC16[octet] = crc
end

-- CRC of a packet up to an octet; the ackID, its first six bits, counts as 0.
local function crc_of_packet(octets, count)
  local crc, bytes = CRC.packet.seed, octets:range(0, count):bytes()
  for at = 0, count - 1 do
    local octet = bytes:get_index(at)
    octet = at == 0 and octet % 4 or octet
    crc = xor((crc % 256) * 256, CRC16[xor(math.floor(crc / 256), octet)])
  end
  return crc
end

local function compare(tree, form, name, range, found, right)
  local item = add(tree, form, name, range, found)
  if found ~= right then
    wrong(item, string.format("%s: 0x%x found, but the other bits make it 0x%x", name, found, right))
  end
end

-- Symbols ---------------------------------------------------------------------------------------------------

local function voq(octets, tree, shift)
  local values = walk("stype2", octets, tree, shift)
  if values == nil or values.s2_cmd ~= 1 then
    return values and "stype2 " .. values.s2_cmd or "cut off"
  end
  local message = walk("VoQ message", octets, tree, shift)
  local ports = {}
  for bit = 0, 5 do
    if math.floor(message.status / 2 ^ bit) % 2 == 1 then
      ports[#ports + 1] = 6 * message.group + bit
    end
  end
  local text = table.concat(ports, ", ")
  add(tree, "VoQ message", "congested", octets:range(math.floor(shift / 8)), text)
  return "group " .. message.group .. (text == "" and ": nothing congested" or ": congested " .. text)
end

local function symbol(octets, tree)
  local form = octets:len() == 4 and "short" or octets:len() == 8 and "long"
  if not form then
    wrong(tree, octets:len() .. " octets found; symbols have 4 or 8 with their delimiters")
    return "malformed symbol"
  end
  local first = octets:range(0, 1):uint()
  local item = add(tree, "symbol", "delimiter", octets:range(0, 1), DELIMITERS[first] or "unknown")
  if not DELIMITERS[first] then
    wrong(item, string.format("0x%02x found in front; allowed: PD or SC", first))
  end
  local bare = octets:range(1, form == "short" and 3 or 6):tvb()
  if form == "long" and octets:range(7, 1):uint() ~= first then
    wrong(item, "another delimiter at the end than in front")
  end
  local values = walk(form, bare, tree)
  for _, means in ipairs(MEANINGS) do
    local name, from, only, names = means[1], means[2], means[3], means[4]
    if only == nil or values.stype0 == only then
      add(tree, "symbol", name, bare:range(0, 3), names[values[from]] or "reserved")
    end
  end
  local stype1 = STYPE1[8 * values.stype1 + values.cmd] or "reserved"
  add(tree, "symbol", "stype1_name", bare:range(0, 3), stype1)
  local code = CRC[form]
  local right = crc_of_bits(bare, code.covers, code)
  if values[code.name] ~= right then
    wrong(tree, string.format("%s: 0x%x found, but the other bits make it 0x%x", code.name, values[code.name], right))
  end
  local words = STYPE0[values.stype0] .. " " .. values.param0 .. " " .. values.param1 .. ", " .. stype1
  if form == "long" then
    words = words .. ", " .. voq(bare, tree, FIRST_OF_STYPE2)
  end
  return words
end

-- What messages and PDUs hold -------------------------------------------------------------------------------

local function attributes(octets, tree)
  while octets:len() >= 8 do
    local one = octets:range(0, 8):tvb()
    local found
    for _, attribute in ipairs(ATTRIBUTES) do
      local size = #attribute[2] / 2
      if tostring(one:range(0, size):bytes()):upper() == attribute[2] then
        found = attribute[1]
      end
    end
    local item = add(tree, "session", "attribute", one:range(0, 8), found or "other")
    add(item, "session", "octets", one:range(0, 8))
    if found and FORMS["attribute " .. found] then
      walk("attribute " .. found, one, item)
    end
    octets = octets:len() > 8 and octets:range(8):tvb() or ByteArray.new():tvb("")
  end
end

-- What ADVERTISE lists: ProtoIDs, or blocks of a ProtoID and its attributes.
local function advertised(octets, tree, values)
  local at = 0
  for _ = 1, values.Count do
    local size = values.A == 1 and 4 or 2
    local count = 0
    if values.A == 1 and at + size <= octets:len() then
      count = octets:range(at + 2, 2):uint()
      size = size + 8 * count
    end
    if at + size > octets:len() then
      wrong(tree, "Count: " .. values.Count .. " do not fit into " .. octets:len() .. " octets")
      return
    end
    local item = add(tree, "session", "ProtoID", octets:range(at, 2), octets:range(at, 2):uint())
    if values.A == 1 then
      add(item, "session", "numAttributes", octets:range(at + 2, 2), count)
    end
    if count > 0 then
      attributes(octets:range(at + 4, 8 * count):tvb(), item)
    end
    at = at + size
  end
end

local function session(octets, tree)
  tree = tree:add(octets:range(), "Session management")
  local code = octets:range(0, 1):uint()
  local command = SESSION[code] or code >= USER_DEFINED and SESSION[USER_DEFINED]
  if not command then
    wrong(tree, string.format("CMD: 0x%02x is unknown", code))
    return "malformed session management"
  end
  add(tree, "session", "command", octets:range(0, 1), command.name)
  local form = command.form
  if command.form_with_stream then
    local ends = octets:len() > 8 and number(octets, 64, 2) or 0
    form = ends > 0 and command.form_with_stream or command.form
  end
  local values = walk(form, octets, tree)
  if values == nil then
    return "malformed " .. command.name
  end
  if octets:len() < command.header then
    wrong(tree, command.name .. " has a header of " .. command.header .. " octets")
    return "malformed " .. command.name
  end
  local rest = octets:len() - command.header
  if rest > 0 then
    local behind = octets:range(command.header):tvb()
    if command.list == "attributes" then
      local size = 8 * values[command.count]
      if size > rest then
        wrong(tree, values[command.count] .. " attributes do not fit into " .. rest .. " octets")
      elseif size > 0 then
        attributes(behind:range(0, size):tvb(), tree)
      end
    elseif command.list == "protocols" then
      -- without S nothing is listed
      if values.S == 1 then
        advertised(behind, tree, values)
      end
    elseif values.Length then
      if values.Length > rest then
        wrong(tree, "Length: " .. values.Length .. " octets, " .. rest .. " follow")
      elseif values.Length > 0 then
        add(tree, "session", "payload", behind:range(0, values.Length))
      end
    else
      add(tree, "session", "payload", behind:range())
    end
  elseif (command.list == "attributes" and values[command.count] or values.Length or 0) > 0
    or command.list == "protocols" and values.S == 1 and values.Count > 0
  then
    wrong(tree, "nothing behind the header of " .. command.name)
  end
  return command.name
end

local function riocm(octets, tree)
  tree = tree:add(octets:range(), "RIOCM")
  if octets:len() < 5 then
    wrong(tree, "a frame has at least 5 octets")
    return "malformed RIOCM"
  end
  local protocol = octets:range(0, 2):uint()
  local item = add(tree, "RIOCM", "protocol", octets:range(0, 2), protocol)
  if protocol ~= RIOCM_PROTOCOL then
    wrong(item, string.format("protocol: 0x%04x found", protocol))
    return "malformed RIOCM"
  end
  local kind = RIOCM[octets:range(4, 1):uint()]
  if not kind then
    wrong(tree, string.format("type: 0x%02x is unknown", octets:range(4, 1):uint()))
    return "malformed RIOCM"
  end
  local values = walk("RIOCM " .. kind.name, octets, tree)
  if values == nil then
    return "malformed " .. kind.name
  end
  local upto = values.size + 4
  if upto > octets:len() or upto < kind.header then
    wrong(tree, "size: " .. values.size .. " octets, " .. octets:len() - 4 .. " follow")
    return "malformed " .. kind.name
  end
  local payload = upto - kind.header
  if kind.data and values.payl_size and values.payl_size < payload then
    payload = values.payl_size
  end
  if kind.data and payload > 0 then
    add(tree, "RIOCM", "payload", octets:range(kind.header, payload))
  end
  return kind.name
end

local function operation(octets, tree)
  local values = walk("ST", octets, tree)
  if values == nil then
    return "malformed Scheduled Transfer"
  end
  if octets:len() > ST_HEADER then
    add(tree, "ST", "payload", octets:range(ST_HEADER))
  end
  return ST_OPERATIONS[values.op] or "Op " .. values.op
end

local function transfer(octets, tree)
  tree = tree:add(octets:range(), "Scheduled Transfer")
  if octets:len() < ETHERNET_OVERHEAD then
    wrong(tree, "a frame has at least " .. ETHERNET_OVERHEAD .. " octets")
    return "malformed Scheduled Transfer"
  end
  add(tree, "ST", "d_ula", octets:range(0, 6), octets:range(0, 6):uint64())
  add(tree, "ST", "s_ula", octets:range(6, 6), octets:range(6, 6):uint64())
  local length = octets:range(12, 2):uint()
  if length == ETHER_TYPE then
    if octets:len() < ETHERNET_OVERHEAD + ST_HEADER then
      wrong(tree, "no Schedule Header")
      return "malformed Scheduled Transfer"
    end
    return operation(octets:range(ETHERNET_OVERHEAD):tvb(), tree)
  end
  if length + 14 > octets:len() or tostring(octets:range(14, 8):bytes()):upper() ~= SNAP then
    wrong(tree, "no frame of Scheduled Transfer: length " .. length .. ", LLC and SNAP " .. tostring(octets:range(14, 8):bytes()))
    return "malformed Scheduled Transfer"
  end
  if length + 14 <= ETHERNET_OVERHEAD then
    wrong(tree, "no Schedule Header")
    return "malformed Scheduled Transfer"
  end
  return operation(octets:range(ETHERNET_OVERHEAD, length + 14 - ETHERNET_OVERHEAD):tvb(), tree)
end

local CONTENTS = { [1] = session, [2] = riocm, [3] = transfer }

-- Packets ---------------------------------------------------------------------------------------------------

-- Parts of messages and PDUs by who sends them to whom, and whole ones by number of the record.
local parts, wholes = {}, {}

-- The whole message or PDU that ends with this record, if one does.
local function whole(record, key, place, last, data)
  if record.visited then
    return wholes[record.number]
  end
  if place == 0 then
    parts[key] = {}
  end
  local got = parts[key]
  if not got or #got ~= place then
    parts[key] = nil
    return nil
  end
  got[#got + 1] = data
  if not last then
    return nil
  end
  parts[key] = nil
  local octets = ByteArray.new()
  for _, part in ipairs(got) do
    octets = octets .. part
  end
  wholes[record.number] = octets
  return octets
end

local function form_of(ftype, octets)
  for _, packet in ipairs(PACKETS) do
    if packet.ftype == ftype then
      local fits = true
      for _, known in ipairs(packet.known) do
        local first, bits = known[1], known[2]
        local value = math.ceil((first + bits) / 8) <= octets:len() and number(octets, first, bits)
        fits = fits and known[3][value] or false
      end
      if fits then
        return packet
      end
    end
  end
end

-- Octets without CRCs and padding, where the pseudo header does not say it.
local function body_of(octets)
  local crcs = octets:len() > FIRST_PART + 4 and 4 or 2
  for _, padding in ipairs({ 2, 0 }) do
    local body = octets:len() - crcs - padding
    local at = body + crcs - 2
    if body >= 2 and octets:range(at, 2):uint() == crc_of_packet(octets, at) then
      return body
    end
  end
  return octets:len() - crcs
end

local function filler(plain, tree)
  if plain:len() >= 10 then
    add(tree, "filler", "destination", plain:range(2, 4), plain:range(2, 4):uint())
    add(tree, "filler", "number", plain:range(6, 4), plain:range(6, 4):uint())
    if plain:len() > 10 then
      add(tree, "filler", "data", plain:range(10))
    end
  end
  return "packet of a traffic source"
end

local function contents(plain, tree, record, form, ids, values)
  local at = form.at
  local data = plain:len() - at
  if values.P == 1 then
    data = data - 1
  end
  if data <= 0 then
    return nil
  end
  add(tree, form.name, "data", plain:range(at, data))
  if record.protocol == 0 then
    return nil
  end
  local octets, key = plain:range(at, data):bytes(), record.from .. " " .. ids
  if form.name == "message" then
    key = key .. " " .. values.letter .. " " .. values.mbox
    if values.msglen > 0 then
      return whole(record, key, values.msgseg, values.msgseg == values.msglen, octets)
    end
    return octets
  end
  key = key .. " " .. (values.cos or "")
  if form.name == "single segment" then
    return octets
  elseif form.name == "start segment" then
    return whole(record, key, 0, false, octets)
  elseif form.name == "continuation segment" or form.name == "end segment" then
    local before = parts[key]
    return whole(record, key, before and #before or 1, form.name == "end segment", octets)
  end
end

local function packet(octets, tree, record)
  local size = octets:len()
  if size < 4 or size % 4 ~= 0 or size > LONGEST then
    wrong(tree, size .. " octets found; a packet has a multiple of 4 from 4 to " .. LONGEST)
    return "malformed packet"
  end
  local body = record.body > 0 and record.body or body_of(octets)
  local long = body > FIRST_PART
  local at = body + (long and 2 or 0)
  if at + 2 > size or size - at - 2 > 2 then
    wrong(tree, "a body of " .. body .. " octets does not make a packet of " .. size)
    return "malformed packet"
  end
  local plain = octets
  if long then
    local first, rest = octets:range(0, FIRST_PART):bytes(), octets:range(FIRST_PART + 2, body - FIRST_PART):bytes()
    plain = (first .. rest):tvb("without CRC")
  else
    plain = octets:range(0, body):tvb()
  end
  local values = walk("packet", plain, tree)
  local channel = values.VC == 1 and 1 + 2 * values.prio + values.CRF or 0
  add(tree, "packet", "virtual_channel", plain:range(0, 2), channel)
  add(tree, "packet", "body_bytes", octets:range(0, 1), body)
  local words = FTYPES[values.ftype]
  local whole_octets
  if record.filler then
    words = filler(plain, tree)
  else
    local width = ({ [0] = 1, 2, 4 })[values.tt]
    local ids = width and 2 + 2 * width
    local form = ids and ids < body and form_of(values.ftype, plain:range(ids):tvb())
    if not form then
      wrong(tree, "no form of packets: ftype " .. values.ftype .. ", tt " .. values.tt)
      words = "malformed packet"
    else
      local to, from = plain:range(2, width):uint(), plain:range(2 + width, width):uint()
      add(tree, "packet", "destinationID", plain:range(2, width), to)
      add(tree, "packet", form.second, plain:range(2 + width, width), from)
      local branch = tree:add(plain:range(ids), form.name)
      local behind = plain:range(ids):tvb()
      local found = walk(form.name, behind, branch)
      words = form.name .. " " .. from .. " to " .. to
      if found == nil then
        words = "malformed " .. words
      else
        if found.address and found.xamsbs then
          local address = UInt64(found.address) * UInt64(8) + UInt64(found.xamsbs) * UInt64(0, 1)
          add(branch, form.name, "byte_address", behind:range(), address)
        end
        form.at = ids + form.octets
        whole_octets = contents(plain, branch, record, form, from .. " " .. to, found)
      end
    end
  end
  if long then
    local range = octets:range(FIRST_PART, 2)
    compare(tree, "packet", "crc16_first", range, range:uint(), crc_of_packet(octets, FIRST_PART))
  end
  compare(tree, "packet", "crc16", octets:range(at, 2), octets:range(at, 2):uint(), crc_of_packet(octets, at))
  if size > at + 2 then
    local item = add(tree, "packet", "padding_bytes", octets:range(at + 2), size - at - 2)
    if octets:range(at + 2):uint() ~= 0 then
      wrong(item, "padding is not zero")
    end
  end
  -- Streams of conduits carry PDUs without a header beside messages.
  local first = whole_octets and whole_octets:len() > 1 and whole_octets:get_index(0)
  if record.protocol == 1 and values.ftype == DATA_STREAMING and first then
    local known = SESSION[first] or first >= USER_DEFINED
    whole_octets = known and whole_octets:get_index(1) == 1 and whole_octets or nil
  end
  if whole_octets and CONTENTS[record.protocol] then
    words = words .. ": " .. CONTENTS[record.protocol](whole_octets:tvb("message or PDU"), tree)
  end
  return words
end

-- Records ---------------------------------------------------------------------------------------------------

function rapidio.init()
  parts, wholes = {}, {}
end

function rapidio.dissector(octets, pinfo, root)
  pinfo.cols.protocol = "RapidIO"
  local tree = root:add(rapidio, octets:range())
  local known = tree:add(octets:range(), "What the simulation knows")
  local values = walk("pseudo", octets, known)
  if values == nil or values.version ~= VERSION or values.header_octets > octets:len() then
    wrong(known, "no pseudo header of version " .. VERSION)
    pinfo.cols.info = "malformed pseudo header"
    return octets:len()
  end
  local at, names = PSEUDO, {}
  for _, name in ipairs({ "flow", "from", "to" }) do
    local size = values[name .. "_octets"]
    if at + size > values.header_octets then
      wrong(known, "names are longer than the pseudo header")
      return octets:len()
    end
    names[name] = size > 0 and octets:range(at, size):string() or ""
    if size > 0 then
      add(known, "pseudo", name, octets:range(at, size))
    end
    at = at + size
  end
  known:set_len(values.header_octets)
  if values.cause < 255 then
    known:append_text(": waited " .. tostring(values.waited_ps) .. " ps, " .. (CAUSES[values.cause] or "?"))
  end
  local record = {
    body = values.body_octets,
    filler = values.filler == 1,
    protocol = values.protocol,
    from = names.from,
    number = pinfo.number,
    visited = pinfo.visited,
  }
  if values.header_octets == octets:len() then
    wrong(tree, "nothing behind the pseudo header")
    return octets:len()
  end
  local wire = octets:range(values.header_octets):tvb()
  local words
  if values.kind == 1 then
    words = packet(wire, tree, record)
  elseif values.kind == 2 then
    words = symbol(wire, tree)
  elseif values.kind == 3 and wire:len() == 2 then
    words = voq(wire, tree, 2)
  else
    wrong(tree, "kind " .. values.kind .. " is unknown")
    words = "malformed"
  end
  if values.damaged == 1 then
    tree:add_proto_expert_info(told, "damaged on the link")
    words = words .. " [damaged]"
  end
  if values.again == 1 then
    tree:add_proto_expert_info(told, "sent again")
    words = words .. " [again]"
  end
  local flow = names.flow ~= "" and " " .. names.flow .. ":" or ""
  local queue = values.staging_queue < 255 and ", queue " .. values.staging_queue or ""
  pinfo.cols.info = names.from .. " > " .. names.to .. flow .. " " .. words .. queue
  return octets:len()
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, rapidio)
