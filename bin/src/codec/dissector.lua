-- What Wireshark and tshark need to read captures of riosim:
--
--   riosim trace scenario.json --pcapng links.pcapng
--   tshark -X lua_script:riosim.lua -r links.pcapng -V
--
-- Generated, not to be edited: the tables of fields are those that `riosim decode` walks, the names those of the
-- documents.

-- By form: { name, first bit, bits, base, names of values }.
@FORMS@

-- By form of a packet: its ftype, octets behind the device IDs, and fields by whose values it is known.
@PACKETS@

-- By command of session management: its form, octets of its header, the list behind it and what counts it.
@SESSION@

-- Attributes of session management: name, and the octets with which it begins.
@ATTRIBUTES@

-- By type of RIOCM: octets of its header, and whether a payload follows.
@RIOCM@

-- Numbers and names that are no field.
@CONSTANTS@

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
