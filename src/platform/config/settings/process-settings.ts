import { choice, integer, text, url } from '../setting.ts'
import { minutes, seconds } from './units.ts'

/** Every process has these. */
export const processSettings = {
  log_level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], {
    unit: 'level',
    default: 'info',
    reason: 'Least severe line that is written.',
  }),
  log_format: choice(['auto', 'pretty', 'json'], {
    unit: 'format',
    default: 'auto',
    reason:
      'Form of log lines; `auto` is `pretty` on a terminal, for people, and `json` elsewhere.',
  }),
  management_host: text({
    unit: 'address',
    default: '127.0.0.1',
    reason: 'Where /livez, /readyz and /metrics listen; 0.0.0.0 in a pod, so that probes reach it.',
  }),
  management_port: integer({
    unit: 'port',
    default: 9464,
    min: 0,
    max: 65_535,
    reason: 'A port of its own keeps probes and metrics away from traffic; 0 takes a free one.',
  }),
  drain_delay_ms: integer({
    unit: 'ms',
    default: 0,
    min: 0,
    max: 5 * minutes,
    reason:
      'Time between “not ready” and closing, for load balancers to notice; 5000 suits Kubernetes.',
  }),
  grace_period_ms: integer({
    unit: 'ms',
    default: 30 * seconds,
    min: 0,
    max: 30 * minutes,
    reason: 'How long open requests and streams may take to end when the process is stopped.',
  }),
  otlp_traces_url: url(['http', 'https'], {
    unit: 'URL',
    reason: 'Where Looptrace sends traces of itself (OTLP over HTTP); none are made when unset.',
  }),
}
