import type { Metrics } from '../../platform/telemetry/index.ts'

export type HubMeters = ReturnType<typeof hubMeters>

/** Registers the metrics of event streams; call once per process. */
export function hubMeters(metrics: Metrics, countStreams: () => number) {
  metrics.gauge({
    name: 'looptrace_event_streams',
    help: 'Open event streams of browsers and scripts.',
    collect: (self) => self.set(countStreams()),
  })
  return {
    events: metrics.counter({
      name: 'looptrace_events_sent_total',
      help: 'Events sent on event streams: change, and reset for a client that has missed events.',
      labels: ['event'],
    }),
    refused: metrics.counter({
      name: 'looptrace_event_streams_refused_total',
      help: 'Event streams that were refused because a project or the process was over its limit.',
      labels: ['by'],
    }),
  }
}
