import { z } from 'zod'
import type { Route } from '../../../src/platform/http/index.ts'
import type { Json as Schema } from '../../../src/platform/http/json-schema.ts'
import { sampleValue } from './sample-value.ts'

const hour_ms = 3_600_000
const at = (hours: number) => new Date(Date.now() + hours * hour_ms).toISOString()
const window = { from: at(-1), to: at(0) }
const query = { entity: 'observations', window }
const measures = [{ fn: 'count', as: 'n' }]
const saved = { name: 'mine', kind: 'query', visibility: 'project', body: query }
const rule = {
  ...{ name: 'mine', severity: 'high' },
  condition: { signal: 'ttft_p95', window: '10m', threshold: 4000, min_samples: 30 },
}
const webhook = { name: 'mine', webhook: { url: 'https://receiver.invalid/' } }
const mute = { matchers: [{ field: 'rule', value: 'mine' }], comment: 'c', expires_at: at(1) }
const policy = { gates: [{ metric: 'task_success_rate', kind: 'absolute', threshold: 0.9 }] }

/** Bodies of routes whose schema has conditions beyond JSON Schema. */
const bodies: Readonly<Record<string, object>> = {
  ...{ createFeedback: { thumbs: 'up', user_id: 'u' }, editFeedback: { thumbs: 'up' } },
  ...{ runQuery: query, runAggregate: { ...query, measures }, explainQuery: query },
  ...{ createSavedQuery: saved, putSavedQuery: saved, runSavedQuery: {} },
  ...{ createIncidentRule: rule, putIncidentRule: rule, previewIncidentRule: { rule, window } },
  ...{ createNotificationChannel: webhook, putNotificationChannel: webhook },
  ...{ createIncidentSuppression: mute, putIncidentSuppression: mute },
  ...{ previewIncidentSuppression: mute, putReleasePolicy: policy },
  ...{ placeLegalHold: { kind: 'user', value: 'mine', reason: 'r' } },
  ...{ eraseUser: { user_id: 'nobody', reason: 'r' }, runArchive: { window } },
  postOnboardingEvents: { events: [{ name: 'doctor_passed', event_id: 'e', occurred_at: at(0) }] },
  ingestBatch: { idempotency_key: 'mine', observations: [] },
  addCorrelations: { correlations: [] },
  putRetentionPolicy: { days: {} },
  snoozeIncident: { for: '1h' },
  assignIncident: { assignee: 'victim-owner@example.com' },
  setUserPassword: { password: 'correct horse battery' },
}

/** Query parameters that routes require. */
const queries: Readonly<Record<string, Record<string, string>>> = {
  getDeclaredMember: { managed_by: 'LooptraceMember/team/ada', installation: 'i' },
  deleteDeclaredMember: { managed_by: 'LooptraceMember/team/ada', installation: 'i' },
  searchCorrelations: { type: 'order_id', value: '1' },
  compareReleaseCertifications: {
    base: '01890000-0000-7000-8000-00000000000a',
    head: '01890000-0000-7000-8000-00000000000b',
  },
  explainOtlpMapping: {
    trace_id: '01890000-0000-7000-8000-00000000000a',
    observation_id: 'o',
  },
}

let bodiesMade = 0

/** Returns a valid body of a route; each one has a name of its own, where it has one. */
export function bodyOf(route: Route): object {
  const sample = bodies[route.id] ?? sampleOf(route)
  return 'name' in sample ? { ...sample, name: `mine-${++bodiesMade}` } : sample
}

function sampleOf({ body }: Route): object {
  if (body === undefined) return {}
  const schema = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as Schema
  const sample = sampleValue(schema)
  return typeof sample === 'object' && sample !== null ? sample : {}
}

/** Returns the query string of a route: what it requires, with the caller's objects, and `more`. */
export function queryOf(
  route: Route,
  own: Readonly<Record<string, string>>,
  more: Record<string, string> = {},
): string {
  const required =
    route.id === 'compareTraces' ? { with: own['trace_id'] ?? '' } : queries[route.id]
  const parameters = { ...required, ...more }
  const text = new URLSearchParams(parameters).toString()
  return text === '' ? '' : `?${text}`
}
