import { integer, portOrOff, text } from '../setting.ts'
import { gib, hours, kib, mib, minutes, seconds } from './units.ts'

/** The OTLP receiver, over HTTP on the port of the role and over gRPC on a port of its own. */
export const otlpSettings = {
  otlp_grpc_host: text({
    unit: 'address',
    default: '127.0.0.1',
    reason: 'Loopback until somebody decides to be reached from outside.',
  }),
  otlp_grpc_port: portOrOff({
    unit: 'port',
    default: 4317,
    reason: 'Where exporters look for OTLP over gRPC; 0 takes a free port, `off` opens none.',
  }),
  otlp_body_bytes_max: integer({
    unit: 'bytes',
    default: 64 * mib,
    min: kib,
    max: gib,
    reason: 'An export request, before and after it is unpacked; the limit of the Collector.',
  }),
  otlp_inflight_bytes_max: integer({
    unit: 'bytes',
    default: 256 * mib,
    min: mib,
    max: 64 * gib,
    reason: 'Export requests held at one time; above, they get 503 instead of the process dying.',
  }),
  otlp_body_idle_timeout_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 100,
    max: 10 * minutes,
    reason: 'The longest silence of a client in the middle of a request.',
  }),
  otlp_requests_per_minute_max: integer({
    unit: 'requests/minute',
    default: 0,
    min: 0,
    max: 10_000_000,
    reason: 'Export requests of one project key in one process; 0 sets no limit.',
  }),
  otlp_grpc_streams_max: integer({
    unit: 'streams',
    default: 128,
    min: 1,
    max: 65_536,
    reason: 'Calls at one time on one gRPC connection; further ones wait in the client.',
  }),
  otlp_grpc_keepalive_ms: integer({
    unit: 'ms',
    default: minutes,
    min: seconds,
    max: 2 * hours,
    reason: 'A gRPC connection is asked for a sign of life so often; the dead ones are closed.',
  }),
}
