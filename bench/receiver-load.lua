-- For wrk: posts the body that it is given, each time with another number in place of the id's first eight digits.
-- Arguments: the bearer secret, the id, the body.
local parts = {}
local count = 0

function init(args)
  wrk.method = 'POST'
  wrk.headers['authorization'] = 'Bearer ' .. args[1]
  wrk.headers['content-type'] = 'application/json'
  local place = string.sub(args[2], 1, 8)
  local whole = wrk.format(nil, '/webhooks/pix', nil, args[3])
  local from = 1
  local at = string.find(whole, args[2], from, true)
  while at do
    table.insert(parts, string.sub(whole, from, at - 1))
    from = at + #place
    at = string.find(whole, args[2], from, true)
  end
  table.insert(parts, string.sub(whole, from))
end

function request()
  count = count + 1
  return table.concat(parts, string.format('%08x', count))
end

function done(summary, latency)
  local errors = summary.errors
  local failures = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format('{"requests":%d,"us":%d,"failures":%d,"p99Us":%d}\n',
    summary.requests, summary.duration, failures, latency:percentile(99)))
end
